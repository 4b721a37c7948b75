"""Responses and errors in the format of Azure Content Safety."""

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
"""Seconds after which to try again, where the problem does not name them."""


class AzureResponse(AsciiResponse):
    """JSON with the id of the request in Azure's own header."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the response."""
        self.headers["x-ms-request-id"] = scope["state"]["request_id"]
        await super().__call__(scope, receive, send)


def wrong_api_version(request: Request, supported: Collection[str]) -> Response | None:
    """The error for a request without an api-version, or with one that is not supported."""
    given = request.query_params.get("api-version", "")
    if given in supported:
        return None
    if not given:
        return error_response(errors.missing_api_version())
    return error_response(errors.unsupported_api_version(given, supported))


def renderer(invalid: Callable[[WireFormatError], AzureError], *, denied: str) -> Renderer:
    """Make the renderer of an Azure surface.

    Args:
        invalid: Its error for an invalid body.
        denied: Its code for a request without a valid key.
    """

    def render(problem: Problem) -> Response:
        return error_response(_azure_error(problem, invalid, denied), problem)

    return render


def error_response(error: AzureError, problem: Problem | None = None) -> Response:
    """The response for an error, with the headers of its problem."""
    given = {} if problem is None else problem.headers
    own = {name.lower(): value for name, value in error.headers.items()}
    return AzureResponse(error.body, status_code=error.status, headers={**given, **own})


def _azure_error(
    problem: Problem, invalid: Callable[[WireFormatError], AzureError], denied: str
) -> AzureError:
    retry_s = int(problem.headers.get("retry-after", _RETRY_S))
    match problem.status:
        case 400 | 413:
            # The adapter splits "path: reason" into target and message.
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
