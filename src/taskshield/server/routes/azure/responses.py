"""Answers as clients of Azure's Content Safety know them, errors included."""

from collections.abc import Callable, Collection
from dataclasses import replace

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from taskshield.adapters.azure import errors
from taskshield.adapters.azure.errors import AzureError
from taskshield.core.errors import WireFormatError
from taskshield.server.http.errors import Problem, Renderer
from taskshield.server.http.json_response import AsciiResponse

_RETRY_S = 1
"""When to try again where the problem itself does not say."""


class AzureResponse(AsciiResponse):
    """JSON with the id of the request in Azure's own header."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        self.headers["x-ms-request-id"] = scope["state"]["request_id"]
        await super().__call__(scope, receive, send)


def wrong_api_version(request: Request, supported: Collection[str]) -> Response | None:
    """The error for a request without an api-version, or with one that there is not."""
    given = request.query_params.get("api-version", "")
    if given in supported:
        return None
    if not given:
        return error_response(errors.missing_api_version())
    return error_response(errors.unsupported_api_version(given, supported))


def renderer(invalid: Callable[[WireFormatError], AzureError], *, denied: str) -> Renderer:
    """How a surface of Azure's writes problems down.

    Args:
        invalid: Its error for a body that is not what it should be.
        denied: Its code for a request without a good key.
    """

    def render(problem: Problem) -> Response:
        return error_response(_azure_error(problem, invalid, denied), problem)

    return render


def error_response(error: AzureError, problem: Problem | None = None) -> Response:
    """An error as it is sent, with the headers of the problem that it stands for."""
    given = {} if problem is None else problem.headers
    own = {name.lower(): value for name, value in error.headers.items()}
    return AzureResponse(error.body, status_code=error.status, headers={**given, **own})


def _azure_error(
    problem: Problem, invalid: Callable[[WireFormatError], AzureError], denied: str
) -> AzureError:
    retry_s = int(problem.headers.get("retry-after", _RETRY_S))
    match problem.status:
        case 400 | 413:
            # What an adapter refuses begins with the path, as its errors do.
            return replace(invalid(WireFormatError(problem.message)), status=problem.status)
        case 401:
            return replace(errors.unauthorized(), code=denied)
        case 404:
            return errors.not_found()
        case 429:
            return errors.too_many_requests(retry_s)
        case 500:
            return errors.internal_error()
        case 503 | 504:
            return replace(errors.server_busy(retry_s), status=problem.status)
        case _:
            return errors.of_status(problem.status, problem.message)
