"""Errors that clients of the HTTP API get.

Owns the native body of an error, and the status and code of each of our exceptions. A surface whose
clients expect another body brings its own `Renderer`. No body contains conversation text, a secret
or a traceback.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, TypeAlias

from starlette.exceptions import HTTPException
from starlette.responses import Response

from taskshield.core.errors import (
    ConversationError,
    StoreConflict,
    StoreError,
    TaskShieldError,
    WireFormatError,
)
from taskshield.server.http.json_response import AsciiResponse

_RETRY_S = 1
"""Seconds after which a client may try again where the store could not be used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """An error as a client gets it."""

    status: int
    code: str
    """One word for programs, e.g. "not_found"."""
    message: str
    """One or two sentences for people: what is wrong and what to do."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """For example `retry-after`."""


class RequestError(HTTPException):
    """A request that fails, with the error that its client gets.

    It is one of Starlette's own exceptions, because the framework passes only those on from
    wherever they are raised.
    """

    def __init__(
        self, status: int, code: str, message: str, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(status, message)
        self.problem = Problem(
            status=status, code=code, message=message, headers={} if headers is None else headers
        )


Renderer: TypeAlias = Callable[[Problem], Response]
"""Renders a problem in the format that the clients of a surface expect."""


def render(problem: Problem) -> Response:
    """The native body: {"error": {"code": ..., "message": ...}}."""
    error = {"code": problem.code, "message": problem.message}
    headers = dict(problem.headers)
    return AsciiResponse({"error": error}, status_code=problem.status, headers=headers)


def problem_of(error: Exception) -> Problem:
    """The problem that a client gets for an exception."""
    match error:
        case RequestError():
            return error.problem
        case HTTPException():
            return _problem_of_status(error.status_code, error.headers)
        case WireFormatError():
            return Problem(status=400, code="invalid_request", message=str(error))
        case ConversationError():
            return Problem(status=409, code="invalid_conversation", message=str(error))
        case StoreConflict():
            return _later(
                "conflict", "The session changed five times during this request. Try again."
            )
        case StoreError():
            return _later(
                "store_unavailable", "The store cannot be used. Nothing was decided. Try again."
            )
        case TaskShieldError():
            return _failure("The server is configured wrongly. Its log has the details.")
        case _:
            return _failure("The server failed. Its log has the details.")


def problem_of_validation(errors: Sequence[Any]) -> Problem:
    """The problem with invalid input: the path and the reason, but not the value."""
    first = errors[0]
    steps, message = first["loc"], first["msg"]
    if first["type"] == "extra_forbidden":
        steps, message = (
            steps[:-1],
            "an unknown field",
        )  # not its name: the client may have put anything there
    place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
    return Problem(
        status=400, code="invalid_request", message=f"{place.removeprefix('.')}: {message}"
    )


def _problem_of_status(status: int, headers: Mapping[str, str] | None) -> Problem:
    """For errors of the framework: a path that does not exist, a body that is not JSON."""
    known = HTTPStatus(status)
    return Problem(
        status=status,
        code="invalid_request" if status == 400 else known.phrase.lower().replace(" ", "_"),
        message=known.description or known.phrase,
        headers={} if headers is None else headers,
    )


def _failure(message: str) -> Problem:
    return Problem(status=500, code="internal", message=message)


def _later(code: str, message: str) -> Problem:
    return Problem(status=503, code=code, message=message, headers={"retry-after": str(_RETRY_S)})
