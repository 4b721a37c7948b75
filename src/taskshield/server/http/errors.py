"""Refusals: what a client is told when its request is not carried out.

Owns the native body of an error, and which status and code each of our own errors has. A surface
whose clients expect another body brings its own `Renderer`. No body carries conversation text, a
secret or a traceback.
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
"""When to try again where the store was busy or gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Why a request is refused."""

    status: int
    code: str
    """One word for programs, e.g. "not_found"."""
    message: str
    """One sentence for people."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """E.g. when to try again."""


class RequestError(HTTPException):
    """A request that is not carried out.

    The framework lets errors of its own kind pass wherever they are raised, and no others.
    """

    def __init__(
        self, status: int, code: str, message: str, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(status, message)
        self.problem = Problem(
            status=status, code=code, message=message, headers={} if headers is None else headers
        )


Renderer: TypeAlias = Callable[[Problem], Response]
"""Writes a problem down as the clients of a surface expect it."""


def render(problem: Problem) -> Response:
    """The native body: {"error": {"code": ..., "message": ...}}."""
    error = {"code": problem.code, "message": problem.message}
    headers = dict(problem.headers)
    return AsciiResponse({"error": error}, status_code=problem.status, headers=headers)


def problem_of(error: Exception) -> Problem:
    """What a client is told of an error that was raised on its behalf."""
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
            return _later("conflict", "others keep writing to this session; try again")
        case StoreError():
            return _later("store_unavailable", "the store cannot be used; nothing was decided")
        case TaskShieldError():
            return Problem(status=500, code="internal", message="the server is set up wrongly")
        case _:
            return Problem(status=500, code="internal", message="the server failed")


def problem_of_validation(errors: Sequence[Any]) -> Problem:
    """What a client is told of input that is not what it should be: where, but not what it said."""
    first = errors[0]
    steps, message = first["loc"], first["msg"]
    if first["type"] == "extra_forbidden":
        steps, message = steps[:-1], "an unknown field"  # its name is the client's own words
    place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
    return Problem(
        status=400, code="invalid_request", message=f"{place.removeprefix('.')}: {message}"
    )


def _problem_of_status(status: int, headers: Mapping[str, str] | None) -> Problem:
    """For what the framework refuses: a path that does not exist, a body that is no JSON."""
    known = HTTPStatus(status)
    return Problem(
        status=status,
        code="invalid_request" if status == 400 else known.phrase.lower().replace(" ", "_"),
        message=known.description or known.phrase,
        headers={} if headers is None else headers,
    )


def _later(code: str, message: str) -> Problem:
    return Problem(status=503, code=code, message=message, headers={"retry-after": str(_RETRY_S)})
