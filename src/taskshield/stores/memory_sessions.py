"""Sessions in memory with their parts, and how the next version follows."""

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
    if before is not None:
        row = replace(row, created_at=before.row.created_at)
    if isinstance(session, SessionHead):
        if before is not None and not session.whole:
            parts = before.parts
        for key in session.removed:
            parts.pop(key, None)
        parts.update((part.key, part) for part in session.parts)
    return MemorySession(row=row, parts=parts)
