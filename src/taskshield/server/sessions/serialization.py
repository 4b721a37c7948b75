"""Sessions as JSON text and back, without secrets.

A session grows by one message at a time, and most of it stays the same. So turns and tools are
serialized one by one, and texts from the last time are used again: a write costs as much as what is
new, however long the conversation.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from taskshield.adapters.stored.documents import Document
from taskshield.adapters.stored.sessions import OLD_SESSION, REST, TOOL, TURN, SessionRest
from taskshield.core.errors import StoreError, WireFormatError
from taskshield.core.judge import HistoryEntry
from taskshield.core.tools import ToolSpec
from taskshield.server.sessions.snapshots import SerializedPart, SerializedParts, StoredContent

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class SerializedSession:
    """A session and its text."""

    text: str
    content: StoredContent
    """What the text says: secrets that are redacted in the text are redacted here as well."""
    parts: SerializedParts
    """For the next time."""


def write(
    content: StoredContent, known: SerializedParts, redacted: Callable[[str], str]
) -> SerializedSession:
    """Serialize a session.

    Args:
        content: The session.
        known: Parts that were serialized the last time.
        redacted: Makes secrets in a JSON text unreadable.
    """

    def serialize(document: Document[T], value: T) -> SerializedPart[T]:
        found = known.get(id(value))
        if found is not None and found.value is value:
            return found
        plain = document.write(value, 1)
        text = redacted(plain)
        return SerializedPart(value if text == plain else document.read(text), text)

    rest = serialize(
        REST,
        SessionRest(
            state=replace(content.state, history=(), tools={}),
            names=content.names,
            decision_ids=content.decision_ids,
            approvable=content.approvable,
        ),
    )
    turns = [serialize(TURN, turn) for turn in content.state.history]
    tools = [serialize(TOOL, spec) for spec in content.state.tools.values()]
    parts: list[SerializedPart[Any]] = [*turns, *tools]
    history = ", ".join(each.text for each in turns)
    specs = ", ".join(each.text for each in tools)
    return SerializedSession(
        text=f'{{"rest": {rest.text}, "history": [{history}], "tools": [{specs}]}}',
        content=_joined(rest.value, (each.value for each in turns), (each.value for each in tools)),
        parts={id(each.value): each for each in parts},
    )


def read(text: str) -> StoredContent:
    """Read what `write` returned.

    Raises:
        WireFormatError: The text is not a session.
    """
    stored = OLD_SESSION.read(text)
    return _joined(stored.rest, stored.history, stored.tools)


def parse_stored(parse: Callable[[str], T], text: str) -> T:
    """Parse a text from the store.

    Raises:
        StoreError: It cannot be read. Only the store can be the cause.
    """
    try:
        return parse(text)
    except WireFormatError as error:
        raise StoreError(f"What is stored cannot be read: {error}") from None


def _joined(
    rest: SessionRest, history: Iterable[HistoryEntry], tools: Iterable[ToolSpec]
) -> StoredContent:
    by_name = {spec.name: spec for spec in tools}
    return StoredContent(
        state=replace(rest.state, history=tuple(history), tools=by_name),
        names=rest.names,
        decision_ids=rest.decision_ids,
        approvable=rest.approvable,
    )
