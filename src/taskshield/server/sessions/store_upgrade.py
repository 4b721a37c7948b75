"""Sessions of the release before, written as this release stores them."""

from collections.abc import Callable
from dataclasses import dataclass, fields

from taskshield.core.errors import WireFormatError
from taskshield.core.session_parts import SessionHead
from taskshield.core.store import StoredSession
from taskshield.server.sessions import head_and_parts, serialization
from taskshield.server.sessions.snapshots import StoredParts
from taskshield.stores.sql.upgrade import SessionPlace, SqlUpgrade

_VERSION = 2
"""The format that the upgrade writes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UpgradeResult:
    """What an upgrade did."""

    upgraded: int
    unreadable: int
    """Sessions that cannot be read. They stay as they are."""


async def upgrade_sessions(
    upgrade: SqlUpgrade, done: Callable[[int], None] = lambda count: None
) -> UpgradeResult:
    """Store all sessions of a database as head and parts, while servers use it.

    What is done is kept, so this may end and begin again at any time.

    Args:
        upgrade: The database, whose tables are up to date.
        done: Gets the number of sessions of each batch, once it is written.
    """
    upgraded = 0
    while True:
        place: SessionPlace | None = None
        changed = unreadable = 0
        while batch := await upgrade.batch(place):
            heads = [head for head in map(_divided, batch) if head is not None]
            written = await upgrade.write(heads)
            unreadable += len(batch) - len(heads)
            changed += len(heads) - written
            upgraded += written
            done(written)
            place = SessionPlace(batch[-1].tenant, batch[-1].id)
        if not changed:  # otherwise servers wrote some of them meanwhile: look again
            return UpgradeResult(upgraded=upgraded, unreadable=unreadable)


def _divided(session: StoredSession) -> SessionHead | None:
    """The session as head and parts; None where it cannot be read."""
    try:
        content = serialization.read(session.state or "")
    except WireFormatError:
        return None
    divided = head_and_parts.divide(
        content, StoredParts(), whole=True, redacted=_as_it_is, version=_VERSION
    )
    row = {each.name: getattr(session, each.name) for each in fields(StoredSession)}
    return SessionHead(**(row | {"state": divided.head}), parts=divided.parts)


def _as_it_is(text: str) -> str:
    return text  # servers that redact do so before they write the session the next time
