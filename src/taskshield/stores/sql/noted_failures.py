"""The ping of a database, and notes of failures that it does not run into.

A ping writes one small row. It can succeed although the disk has no room for the next session, or
although another part of the file is damaged. So what requests ran into counts for a while.
"""

import time
from collections.abc import Callable
from typing import TypeVar

from sqlalchemy import Connection, exists, false, select, text

from taskshield.core.errors import StoreError
from taskshield.stores.sql.database import Database
from taskshield.stores.sql.tables import METADATA, PARTS, VERSION_TABLE, WITHOUT_PARTS

_COUNTS_S = 30.0
"""How long a noted failure counts."""
_NOTED = frozenset(("full", "damaged", "disk", "tables"))
"""States of a part of the store, which a ping may not touch."""
_WRITE = text(f"UPDATE {VERSION_TABLE} SET version_num = version_num RETURNING version_num")
_LOOK = {table: exists(select(table).where(false())) for table in METADATA.sorted_tables}
"""Each fails where its table or a column of it is missing."""
_WITH_PARTS = select(*_LOOK.values())
_WITHOUT_PARTS = select(*(look for table, look in _LOOK.items() if table is not PARTS))

R = TypeVar("R")


class NotedFailures:
    """A database, and the last failure of a transaction that says something about all of it."""

    def __init__(self, database: Database) -> None:
        """Use the database, and own it from now on."""
        self._database = database
        self._last: StoreError | None = None
        self._at = 0.0

    @property
    def is_sqlite(self) -> bool:
        """Whether it speaks SQLite's dialect."""
        return self._database.is_sqlite

    async def read(self, work: Callable[[Connection], R]) -> R:
        """What the function finds."""
        try:
            return await self._database.read(work)
        except StoreError as error:
            self._note(error)
            raise

    async def write(self, work: Callable[[Connection], R]) -> R:
        """What the function gives, once it is written."""
        try:
            return await self._database.write(work)
        except StoreError as error:
            self._note(error)
            raise

    async def ping(self) -> None:
        """Write a small row, and look whether all tables are there.

        Raises:
            StoreError: That failed, or a transaction of the last half minute did.
        """
        await self._database.write(_ping)
        if self._last is not None and time.monotonic() - self._at < _COUNTS_S:
            # A new one: an exception that is raised again and again collects tracebacks.
            raise StoreError(str(self._last), state=self._last.state)

    async def aclose(self) -> None:
        """Close connections, files and threads."""
        await self._database.aclose()

    def _note(self, error: StoreError) -> None:
        if error.state in _NOTED:
            self._last = StoreError(str(error), state=error.state)
            self._at = time.monotonic()


def _ping(connection: Connection) -> None:
    noted = connection.scalars(_WRITE).all()
    connection.execute(_WITHOUT_PARTS if noted == [WITHOUT_PARTS] else _WITH_PARTS)
