"""Where the values of a call's arguments come from, and who can tell.

A judge finds provenance while it judges, and stores none of it. What is shown later is traced
through the judge's own code again, so records need no place for it and every judge's records have
it.
"""

from dataclasses import dataclass
from typing import Literal, Protocol

from taskshield.core.decisions import Case

ValueOrigin = Literal["user", "data", "directive", "assistant", "new"]
"""Where a value stands.

- user: in the user's words
- data: in tool output, or in text that the user pasted
- directive: only in tool output that tries to direct the agent
- assistant: only in what the agent said
- new: nowhere
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextLocation:
    """Characters `start` to `end` (exclusive) of the text of a session's message."""

    message: int
    """Number of the message in its session."""
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedValue:
    """A value of a call's arguments, and where it comes from."""

    call_id: str
    path: str
    """Where in the arguments it stands, e.g. "recipients[0]"; empty where they are not JSON."""
    value: str
    origin: ValueOrigin
    places: tuple[TextLocation, ...]
    """The same words in earlier messages, the best match first."""


class ValueTracer(Protocol):
    """Follows one conversation, message by message, and traces the values of its calls."""

    def add(self, case: Case) -> None:
        """Read the next message."""
        ...

    def trace(self, case: Case) -> tuple[TracedValue, ...]:
        """Read the next message and say where the values of its calls come from."""
        ...
