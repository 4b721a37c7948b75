"""Opens a store in an SQLite file."""

import asyncio
import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import Any

from sqlalchemy import URL, Connection, event
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from taskshield.core.errors import StoreError
from taskshield.stores.failures import explained
from taskshield.stores.migrating import migrate
from taskshield.stores.sql import SqlStore
from taskshield.stores.sql_rows import WRITES

_BUSY_MS = 5_000
"""How long to wait for another process that writes."""


async def open_sqlite(path: str | os.PathLike[str]) -> SqlStore:
    """The store in this file, which is made where there is none.

    Raises:
        StoreError: The file cannot be used, or was written by a newer release.
    """
    engine = sqlite_engine(path)
    try:
        with explained():
            await asyncio.to_thread(_make, Path(path))
            await migrate(engine)
            return SqlStore(engine, turn=_Turn(Path(path)))
    except BaseException:
        await engine.dispose()
        raise


def sqlite_engine(path: str | os.PathLike[str]) -> AsyncEngine:
    """Connections to a file. Nothing is opened yet."""
    url = URL.create("sqlite+aiosqlite", database=os.fspath(path))
    engine = create_async_engine(url, hide_parameters=True)
    event.listen(engine.sync_engine, "connect", _connected)
    event.listen(engine.sync_engine, "begin", _began)
    return engine


def _make(path: Path) -> None:
    """Make the file where there is none, for its owner only; readers and writers share it (WAL)."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as error:
        reason = "cannot be opened; it must be writable, and its folder too"
        raise StoreError(f"the file of the store {reason} ({type(error).__name__})") from None
    patience = time.monotonic() + _BUSY_MS / 1000
    with closing(sqlite3.connect(path)) as connection:
        while True:
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                # Here SQLite itself does not wait for another process that does the same.
                if error.sqlite_errorname != "SQLITE_BUSY" or time.monotonic() > patience:
                    raise
                time.sleep(0.01)


def _connected(connection: Any, _: object) -> None:
    # Python's driver begins transactions by itself, but only before some statements, and never in
    # a way that waits for other writers. It is told not to; `_began` does it.
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout = {_BUSY_MS}")
    # Waits for the disk at every commit: what was acknowledged survives a power cut as well.
    cursor.execute("PRAGMA synchronous = FULL")
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.close()


def _began(connection: Connection) -> None:
    # A transaction that reads first and writes later fails where somebody wrote in between.
    writes = connection.get_execution_options().get(WRITES, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


class _Turn:
    """One writer at a time, and only to the file that was opened.

    SQLite lets writers of other processes wait, but not in a fair order. And it would go on writing
    to a file that somebody has removed, where nobody will ever find it again.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._identity = _identity(path)
        self._lock = asyncio.Lock()

    async def __aenter__(self) -> None:
        await self._lock.acquire()
        if _identity(self._path) != self._identity:
            self._lock.release()
            raise StoreError("the store cannot be used: its file was removed or replaced")

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._lock.release()


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
