"""Sessions in memory with their parts, and how the next version follows."""

import sys
from dataclasses import dataclass, field, fields, replace

from taskshield.core.session_parts import PartKey, SessionHead, SessionPart
from taskshield.core.store import StoredSession

_ROW = fields(StoredSession)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySession:
    """A session and its parts."""

    row: StoredSession
    parts: dict[PartKey, SessionPart] = field(default_factory=dict)
    """Changed in place: a session of many messages is not copied for each."""
    bytes: int = 0
    """Bytes of its texts."""


def follows(session: StoredSession, now: StoredSession | None) -> bool:
    """Whether this may be written over what is stored."""
    if now is None:
        return session.version == 1
    continues = isinstance(session, SessionHead) and not session.whole
    same = not continues or session.created_at == now.created_at
    return same and session.version == now.version + 1


def next_session(session: StoredSession, before: MemorySession | None) -> MemorySession:
    """What is stored once this was written over what is there."""
    row = StoredSession(**{each.name: getattr(session, each.name) for each in _ROW})
    parts: dict[PartKey, SessionPart] = {}
    size = 0
    if before is not None:
        row = replace(row, created_at=before.row.created_at)
    if isinstance(session, SessionHead):
        if before is not None and not session.whole:
            parts, size = before.parts, before.bytes - size_of(before.row.state)
        for key in (*session.removed, *(part.key for part in session.parts)):
            old = parts.pop(key, None)
            size -= 0 if old is None else size_of(old.text)
        for part in session.parts:
            parts[part.key] = part
            size += size_of(part.text)
    return MemorySession(row=row, parts=parts, bytes=size + size_of(row.state))


def size_of(text: str | None) -> int:
    """Bytes that a text takes in memory."""
    return 0 if text is None else sys.getsizeof(text)
