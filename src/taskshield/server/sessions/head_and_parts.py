"""Sessions as a head and parts: what of a session is new, and the session read back.

Owns the positions of parts. A part that is the same as before is neither serialized nor stored
again, so that a message costs what is new, however long the conversation.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from taskshield.adapters.stored.documents import Document
from taskshield.adapters.stored.sessions import (
    DECISION_ID,
    HEAD,
    OBJECTIVE_PART,
    SYSTEM_TEXT,
    TAINTED_PART,
    TASK_PART,
    TOOL,
    TURN,
    DecisionId,
    HeadContent,
    SystemText,
)
from taskshield.core.errors import WireFormatError
from taskshield.core.instructions import TaskSet
from taskshield.core.session_parts import PartKey, SessionPart
from taskshield.core.session_state import SessionState
from taskshield.server.sessions.snapshots import StoredContent, StoredPart, StoredParts

T = TypeVar("T")

OLD_BEGINNING = '{"rest": '
"""What the text of a session in format 1 begins with."""

_LISTS: tuple[tuple[Document[Any], Callable[[SessionState], Iterable[Any]]], ...] = (
    (TURN, lambda state: state.history),
    (TOOL, lambda state: state.tools.values()),
    (OBJECTIVE_PART, lambda state: state.objectives),
    (TASK_PART, lambda state: state.tasks.tasks),
    (TAINTED_PART, lambda state: state.tainted),
)
"""Parts that are a list in the state of a session."""


_NOTHING: Mapping[str, Any] = {
    "system": "",
    "tools": {},
    "objectives": (),
    "tasks": TaskSet(),
    "tainted": (),
    "history": (),
}
"""What the state in a head has instead of parts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DividedSession:
    """A session as a head and parts, and what has to be stored."""

    head: str
    content: StoredContent
    """What the texts say: secrets that are redacted in them are redacted here as well."""
    stored: StoredParts
    """All parts, for the next time."""
    parts: tuple[SessionPart, ...]
    """Parts that are new or have changed."""
    removed: tuple[PartKey, ...]
    size: int
    """Characters of the head and all parts."""


def is_head(text: str) -> bool:
    """Whether the text of a session is a head, and not a whole session in format 1."""
    return not text.startswith(OLD_BEGINNING)


def divide(
    content: StoredContent,
    before: StoredParts,
    *,
    whole: bool,
    redacted: Callable[[str], str],
    version: int,
) -> DividedSession:
    """Serialize a session.

    Args:
        content: The session.
        before: Parts that were serialized the last time.
        whole: Whether all parts have to be stored: `before` is not stored, or for another session.
        redacted: Makes secrets in a JSON text unreadable.
        version: The format to write.
    """
    writer = _Writer(redacted, version)
    if whole:
        own = {kind: parts for kind, parts in before.lists.items() if kind != DECISION_ID.name}
        before = StoredParts(lists=own, unknown=before.unknown)
    state = content.state
    lists = {
        document.name: writer.listed(document, values(state), before.lists.get(document.name, ()))
        for document, values in _LISTS
    }
    lists[SYSTEM_TEXT.name] = writer.system(state.system, before.lists.get(SYSTEM_TEXT.name, ()))
    ids = writer.ids(content.decision_ids, before.lists.get(DECISION_ID.name, ()))
    counts = {name: len(parts) for name, parts in lists.items()}
    counts[DECISION_ID.name] = len(content.decision_ids)
    lists[DECISION_ID.name] = ids
    head, text = writer.document(
        HEAD,
        HeadContent(
            state=replace(state, **_NOTHING),
            names=content.names,
            approvable=content.approvable,
            parts={**before.counts, **counts},
            unknown=before.unknown,
        ),
    )
    now = StoredParts(lists=lists, counts=before.counts, unknown=before.unknown)
    parts, removed = _difference(StoredParts() if whole else before, now)
    return DividedSession(
        head=text,
        content=_content(head, lists),
        stored=now,
        parts=parts,
        removed=removed,
        size=len(text) + sum(len(part.text) for each in lists.values() for part in each),
    )


def join(head: str, parts: Iterable[SessionPart]) -> tuple[StoredContent, StoredParts]:
    """Read a session and what is stored of it.

    Args:
        head: Its head.
        parts: All its parts, by kind and position.

    Raises:
        WireFormatError: The head or a part cannot be read, or a part is missing.
    """
    read = HEAD.read(head)
    texts: defaultdict[str, list[SessionPart]] = defaultdict(list)
    for part in parts:
        texts[part.kind].append(part)
    lists = {
        document.name: tuple(
            StoredPart(document.read(part.text), part.text, part.position, checked=False)
            for part in texts.pop(document.name, ())
        )
        for document in (*(document for document, _ in _LISTS), SYSTEM_TEXT, DECISION_ID)
    }
    for kind, stored in lists.items():
        expected = read.parts.get(kind, 0)
        # Ids of decisions stay stored where a version of the session has no name.
        if len(stored) < expected or (len(stored) > expected and kind != DECISION_ID.name):
            raise WireFormatError(f"session: {expected} parts {kind!r}, but {len(stored)} stored")
    unknown = {kind: count for kind, count in read.parts.items() if kind not in lists}
    return _content(read, lists), StoredParts(lists=lists, counts=unknown, unknown=read.unknown)


def _content(head: HeadContent, lists: Mapping[str, Sequence[StoredPart[Any]]]) -> StoredContent:
    def values(document: Document[T]) -> tuple[T, ...]:
        return tuple(part.value for part in lists[document.name])

    state = replace(
        head.state,
        system="".join(text.system for text in values(SYSTEM_TEXT)),
        tools={spec.name: spec for spec in values(TOOL)},
        objectives=values(OBJECTIVE_PART),
        tasks=TaskSet(tasks=values(TASK_PART)),
        tainted=values(TAINTED_PART),
        history=values(TURN),
    )
    ids = values(DECISION_ID)[: head.parts.get(DECISION_ID.name, 0)]
    return StoredContent(
        state=state,
        names=head.names,
        decision_ids=tuple(each.id for each in ids),
        approvable=head.approvable,
    )


@dataclass(frozen=True, slots=True)
class _Writer:
    """Writes parts.

    Those that were read from a store are redacted before they count as the same: a server that does
    not redact may have written them.
    """

    redacted: Callable[[str], str]
    version: int

    def document(self, document: Document[T], value: T) -> tuple[T, str]:
        """The text of a value, and the value that the text says."""
        plain = document.write(value, self.version)
        text = self.redacted(plain)
        return (value if text == plain else document.read(text)), text

    def listed(
        self, document: Document[T], values: Iterable[T], before: Sequence[StoredPart[T]]
    ) -> tuple[StoredPart[T], ...]:
        """The parts of a list."""
        known = {id(part.value): part for part in before}
        places: list[int | None] = []
        parts: list[StoredPart[T]] = []
        for value in values:
            found = known.get(id(value))
            if found is None or found.value is not value:
                places.append(None)
                parts.append(self._new(document, value))
            else:
                places.append(found.position)
                parts.append(self._checked(document, found))
        return _placed(parts, places)

    def system(
        self, text: str, before: Sequence[StoredPart[SystemText]]
    ) -> tuple[StoredPart[SystemText], ...]:
        """The parts of a text that grows at its end. It is redacted as a whole."""
        known = [replace(part, checked=True) for part in before]
        old = "".join(part.value.system for part in known)
        if text != old or not all(part.checked for part in before):
            text = self.document(SYSTEM_TEXT, SystemText(text))[0].system
        if not text.startswith(old):
            known, old = [], ""
        if len(text) > len(old):
            known.append(self._new(SYSTEM_TEXT, SystemText(text[len(old) :])))
        return _placed(known, [*(part.position for part in before[: len(known)]), None])

    def ids(
        self, ids: Sequence[str], before: Sequence[StoredPart[DecisionId]]
    ) -> tuple[StoredPart[DecisionId], ...]:
        """Ids at their positions. Those beyond them stay: the next version often has them again."""
        parts = list(before)
        for position, id in enumerate(ids):
            if position >= len(parts):
                place = parts[-1].position + 1 if parts else 0
                part = self._new(DECISION_ID, DecisionId(id))
                parts.append(replace(part, position=place))
            elif parts[position].value.id != id:
                part = self._new(DECISION_ID, DecisionId(id))
                parts[position] = replace(part, position=parts[position].position)
        return tuple(parts)

    def _new(self, document: Document[T], value: T) -> StoredPart[T]:
        value, text = self.document(document, value)
        return StoredPart(value, text, position=-1, checked=True)

    def _checked(self, document: Document[T], part: StoredPart[T]) -> StoredPart[T]:
        if part.checked:
            return part
        text = self.redacted(part.text)
        value = part.value if text == part.text else document.read(text)
        return StoredPart(value, text, part.position, checked=True)


def _placed(
    parts: Sequence[StoredPart[T]], places: Sequence[int | None]
) -> tuple[StoredPart[T], ...]:
    """The parts at positions that grow: at those that they had, where that is possible."""
    positions = _positions(places[: len(parts)])
    return tuple(
        part if part.position == position else replace(part, position=position)
        for part, position in zip(parts, positions, strict=True)
    )


def _positions(places: Sequence[int | None]) -> Sequence[int]:
    """Growing positions, with the given ones where they are; all are new where there is no room."""
    positions: list[int] = []
    for place in places:
        last = positions[-1] if positions else -1
        positions.append(last + 1 if place is None else place)
        if positions[-1] <= last:
            return range(len(places))
    return positions


def _difference(
    before: StoredParts, now: StoredParts
) -> tuple[tuple[SessionPart, ...], tuple[PartKey, ...]]:
    """Which parts have to be written, and which deleted."""
    written: list[SessionPart] = []
    removed: list[PartKey] = []
    for kind, parts in now.lists.items():
        stored = {part.position: part.text for part in before.lists.get(kind, ())}
        for part in parts:
            if stored.pop(part.position, None) != part.text:
                written.append(SessionPart(kind=kind, position=part.position, text=part.text))
        removed += [(kind, position) for position in stored]
    return tuple(written), tuple(removed)
