"""Sessions as JSON text and back, without secrets.

A session grows by a message at a time, and most of it stays as it was. So turns and tools are
written one by one, and what was written before is used again: the cost of a write is that of what
is new, however long the conversation.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from taskshield.adapters import stored_values
from taskshield.core.judge import HistoryEntry
from taskshield.core.tools import ToolSpec
from taskshield.server.sessions.snapshots import Pieces, SerializedPart, StoredContent

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Written:
    """The layout of the text."""

    rest: StoredContent
    """All but history and tools."""
    history: tuple[HistoryEntry, ...]
    tools: tuple[ToolSpec, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SerializedSession:
    """A session as it is written down."""

    text: str
    kept: StoredContent
    """What the text says: what is redacted there is redacted here, too."""
    pieces: Pieces
    """For the next copy."""


def write(kept: StoredContent, known: Pieces, redacted: Callable[[str], str]) -> SerializedSession:
    """Write a session down.

    Args:
        kept: The session.
        known: Pieces of its last copy.
        redacted: Makes secrets in a JSON text unreadable.
    """

    def piece(value: T) -> SerializedPart[T]:
        found = known.get(id(value))
        if found is not None and found.value is value:
            return found
        plain = stored_values.dump(value)
        text = redacted(plain)
        return SerializedPart(
            value if text == plain else stored_values.load(type(value), text), text
        )

    rest = piece(replace(kept, state=replace(kept.state, history=(), tools={})))
    turns = [piece(turn) for turn in kept.state.history]
    tools = [piece(spec) for spec in kept.state.tools.values()]
    pieces: list[SerializedPart[Any]] = [*turns, *tools]
    history = ", ".join(each.text for each in turns)
    specs = ", ".join(each.text for each in tools)
    return SerializedSession(
        text=f'{{"rest": {rest.text}, "history": [{history}], "tools": [{specs}]}}',
        kept=_joined(rest.value, (each.value for each in turns), (each.value for each in tools)),
        pieces={id(each.value): each for each in pieces},
    )


def read(text: str) -> StoredContent:
    """Read back what was written down.

    Raises:
        WireFormatError: The text is not a session.
    """
    written = stored_values.load(_Written, text)
    return _joined(written.rest, written.history, written.tools)


def _joined(
    rest: StoredContent, history: Iterable[HistoryEntry], tools: Iterable[ToolSpec]
) -> StoredContent:
    by_name = {spec.name: spec for spec in tools}
    return replace(rest, state=replace(rest.state, history=tuple(history), tools=by_name))
