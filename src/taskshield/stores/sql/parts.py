"""Parts of sessions in an SQL database: functions that run within a store's transactions."""

from collections.abc import Sequence

from sqlalchemy import Connection, bindparam, delete, select

from taskshield.core.session_parts import SessionHead, SessionPart
from taskshield.core.store import StoredSession
from taskshield.stores.sql.rows import put
from taskshield.stores.sql.tables import PARTS, SESSIONS

_OF_SESSION = (
    PARTS.c.tenant == bindparam("its_tenant"),
    PARTS.c.session == bindparam("its_session"),
)
_REMOVE_ALL = delete(PARTS).where(*_OF_SESSION)
_REMOVE = _REMOVE_ALL.where(
    PARTS.c.kind == bindparam("its_kind"), PARTS.c.position == bindparam("its_position")
)
_REMOVE_OF_SESSIONS = delete(PARTS).where(
    PARTS.c.tenant == bindparam("its_tenant"), PARTS.c.session.in_(bindparam("its_sessions"))
)
# One statement, so that parts and version are of the same moment.
_READ = (
    select(PARTS.c.kind, PARTS.c.position, PARTS.c.text)
    .select_from(
        SESSIONS.outerjoin(
            PARTS, (PARTS.c.tenant == SESSIONS.c.tenant) & (PARTS.c.session == SESSIONS.c.id)
        )
    )
    .where(SESSIONS.c.tenant == bindparam("tenant"), SESSIONS.c.id == bindparam("id"))
    .where(SESSIONS.c.version == bindparam("version"))
    .order_by(PARTS.c.kind, PARTS.c.position)
)


def write_parts(connection: Connection, session: StoredSession) -> None:
    """Store the parts of a session whose row has just been written."""
    own = {"its_tenant": session.tenant, "its_session": session.id}
    head = session if isinstance(session, SessionHead) else None
    if head is None or head.whole:
        connection.execute(_REMOVE_ALL, own)
    elif head.removed:
        gone = [{"its_kind": kind, "its_position": position} for kind, position in head.removed]
        connection.execute(_REMOVE, [own | each for each in gone])
    if head is not None and head.parts:
        rows = [
            {
                "tenant": head.tenant,
                "session": head.id,
                "kind": part.kind,
                "position": part.position,
                "text": part.text,
            }
            for part in head.parts
        ]
        writing = put(PARTS, is_sqlite=connection.dialect.name == "sqlite")
        connection.execute(writing, rows)


def read_parts(
    connection: Connection, tenant: str, id: str, version: int
) -> tuple[SessionPart, ...] | None:
    """The parts of a session, by kind and position; None where it does not have this version."""
    place = {"tenant": tenant, "id": id, "version": version}
    rows = connection.execute(_READ, place).all()
    if not rows:
        return None
    return tuple(
        SessionPart(kind=row.kind, position=row.position, text=row.text)
        for row in rows
        if row.kind is not None
    )


def remove_parts(connection: Connection, tenant: str, sessions: Sequence[str]) -> None:
    """Delete all parts of these sessions."""
    connection.execute(_REMOVE_OF_SESSIONS, {"its_tenant": tenant, "its_sessions": sessions})
