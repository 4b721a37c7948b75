"""Brings tables and sessions of the release before up to date, while servers use them.

How a session is read and written is given to it: here they are texts.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, func, select, tuple_, update

from taskshield.core.session_parts import SessionHead
from taskshield.core.store import StoredSession
from taskshield.stores.sql.database import Database
from taskshield.stores.sql.migrate import upgrade_tables
from taskshield.stores.sql.parts import write_parts
from taskshield.stores.sql.rows import as_tuple, select_of
from taskshield.stores.sql.tables import SESSIONS

_BATCH = 100
"""Sessions that are read and written at once, at most."""
_CHARACTERS = 4_000_000
"""Characters of sessions that are read at once, unless the first one alone has more."""
_KEY = (SESSIONS.c.tenant, SESSIONS.c.id)


@dataclass(frozen=True, slots=True)
class SessionPlace:
    """Where in the order of sessions an upgrade is."""

    tenant: str
    id: str


class SqlUpgrade:
    """An upgrade of a database. What is done is kept, so it may end and begin again at any time."""

    def __init__(self, database: Database, *, old: str) -> None:
        """Upgrade a database.

        Args:
            database: Its tables are those of this release or of the one before.
            old: What the state of a session of the release before begins with.
        """
        self._database = database
        self._old = old

    async def tables(self) -> None:
        """Make the tables those of this release."""
        await upgrade_tables(self._database)

    async def count(self) -> int:
        """How many sessions are as the release before wrote them."""
        counting = select(func.count()).select_from(SESSIONS).where(self._is_old())
        return await self._database.read(lambda open: open.execute(counting).scalar_one())

    async def batch(self, after: SessionPlace | None) -> Sequence[StoredSession]:
        """The next sessions that are as the release before wrote them; none at the end."""
        wanted = (
            select(*_KEY, func.length(SESSIONS.c.state))
            .where(self._is_old())
            .order_by(*_KEY)
            .limit(_BATCH)
        )
        if after is not None:
            wanted = wanted.where(tuple_(*_KEY) > as_tuple(_KEY, (after.tenant, after.id)))

        def read(connection: Connection) -> Sequence[StoredSession]:
            keys: list[tuple[str, str]] = []
            characters = 0
            for tenant, id, length in connection.execute(wanted):
                characters += length
                if keys and characters > _CHARACTERS:
                    break
                keys.append((tenant, id))
            if not keys:
                return []
            rows = select_of(StoredSession, SESSIONS).where(tuple_(*_KEY).in_(keys)).order_by(*_KEY)
            return [StoredSession(**row._mapping) for row in connection.execute(rows)]

        return await self._database.read(read)

    async def write(self, heads: Sequence[SessionHead]) -> int:
        """Store sessions in the new way, in the version that they have; how many.

        A session that a server has changed meanwhile stays as the server wrote it.
        """

        def write(connection: Connection) -> int:
            return sum(_written(connection, head, self._is_old()) for head in heads)

        return await self._database.write(write)

    def _is_old(self) -> ColumnElement[bool]:
        return func.substr(SESSIONS.c.state, 1, len(self._old)) == self._old


def _written(connection: Connection, head: SessionHead, is_old: ColumnElement[bool]) -> bool:
    changed = (
        update(SESSIONS)
        .where(SESSIONS.c.tenant == head.tenant, SESSIONS.c.id == head.id, is_old)
        .where(SESSIONS.c.version == head.version)
        .values(state=head.state)
    )
    if connection.execute(changed).rowcount != 1:
        return False
    write_parts(connection, head)
    return True
