"""What went wrong at an endpoint, without quoting what it said.

Error bodies echo keys and prompts, and so do the exceptions of the HTTP stack. The clients turn
each of them into a `Failure` while they handle it, and raise its error only afterwards, so that the
original is neither cause nor context of what the caller sees.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from taskshield.core.errors import UpstreamError

_REJECTED = frozenset({400, 422})
_MAYBE_REJECTED = frozenset({500})  # llama-cpp-python's answer to an unknown field
_TIMED_OUT = frozenset({408, 504})

# No digits and no dashes: error codes have none, but a key that is echoed there has.
_PLAIN_CODE = re.compile(r"[A-Za-z_]{1,40}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """One failed attempt, after the SDK's own retries."""

    error: UpstreamError
    """What the caller gets if no other request succeeds."""
    complaints: tuple[str, ...] = field(default=(), repr=False)
    """If the endpoint may have rejected the request itself: its words, the most exact first. They
    are searched for the field at fault, and never shown or logged."""
    rejected: bool = False
    """Whether the status alone says that the request was at fault."""


def timed_out() -> Failure:
    """The endpoint did not answer in the time allowed."""
    return Failure(error=UpstreamError("The endpoint did not answer in time.", timeout=True))


def unreachable() -> Failure:
    """There was no connection, or it broke before the answer was complete."""
    return Failure(error=UpstreamError("The connection to the endpoint failed."))


def unexpected(error: Exception) -> Failure:
    """The SDK or the HTTP library raised an error that it does not document."""
    return Failure(
        error=UpstreamError(f"The request to the endpoint failed ({type(error).__name__}).")
    )


def refused(status: int, body: object, text: str) -> Failure:
    """The endpoint answered with an error status.

    Args:
        status: HTTP status.
        body: The answer, decoded where it was JSON.
        text: The answer before decoding.
    """
    details = _details(body)
    code = _code(details)
    shown = f"{status} ({code})" if code is not None else f"{status}"
    error = UpstreamError(
        f"The endpoint answered with status {shown}.", status=status, timeout=status in _TIMED_OUT
    )
    if status not in _REJECTED | _MAYBE_REJECTED:
        return Failure(error=error)
    param = details.get("param")
    exact = (param,) if isinstance(param, str) else ()
    return Failure(error=error, complaints=(*exact, text), rejected=status in _REJECTED)


def _details(body: object) -> Mapping[str, object]:
    """The object that describes the error: `{"error": {...}}`, or the same without its envelope."""
    if not isinstance(body, dict):
        return {}
    inner = body.get("error")
    return inner if isinstance(inner, dict) else body


def _code(details: Mapping[str, object]) -> str | None:
    for key in ("code", "type"):
        value = details.get(key)
        if isinstance(value, str) and _PLAIN_CODE.fullmatch(value):
            return value
    return None
