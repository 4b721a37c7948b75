"""Opens a store in an SQLite file."""

import asyncio
import os
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import URL, Connection, Engine, QueuePool, create_engine, event

from taskshield.core.errors import StoreError
from taskshield.stores.sql.failures import explained, unusable
from taskshield.stores.sql.migrate import migrate
from taskshield.stores.sql.store import SqlStore

_BUSY_MS = 5_000
"""How long to wait for another process that writes."""
_READERS = 8
"""How many may read at the same time; others wait for them."""
WRITES = "taskshield_writes"
"""Execution option of connections that are about to write."""

R = TypeVar("R")


async def open_sqlite(path: str | os.PathLike[str]) -> SqlStore:
    """The store in this file, which is made where there is none.

    Raises:
        StoreError: The file cannot be used, or was written by a newer release.
    """
    with explained():
        await asyncio.to_thread(make_file, Path(path))
    database = SqliteDatabase(Path(path), sqlite_engine(path))
    try:
        with_parts = await migrate(database)
    except BaseException:
        await database.aclose()
        raise
    return SqlStore(database, with_parts=with_parts)


class SqliteDatabase:
    """A database in a file. A transaction is run as a whole, by a thread of this database's own.

    When its caller is cancelled, a transaction that still waits for its turn is not begun, and one
    that has begun is finished before the caller gets the cancellation.
    """

    is_sqlite = True

    def __init__(self, path: Path, engine: Engine) -> None:
        """Use the engine, and own it from now on. The file is there already."""
        self._path = path
        self._identity = _identity(path)
        self._engine = engine
        self._writing = engine.execution_options(**{WRITES: True})
        self._readers = ThreadPoolExecutor(_READERS, "taskshield-reader")
        # One alone: SQLite lets writers wait for each other, but not in a fair order.
        self._writer = ThreadPoolExecutor(1, "taskshield-writer")

    async def read(self, work: Callable[[Connection], R]) -> R:
        """What the function finds; those that write are not waited for."""

        def transaction() -> R:
            with self._engine.connect() as connection:
                return work(connection)

        return await _done(self._readers, transaction)

    async def write(self, work: Callable[[Connection], R]) -> R:
        """What the function gives, once it is on the disk; those who ask first write first."""

        def transaction() -> R:
            # SQLite would keep writing to the removed file, and the rows would be lost.
            if _identity(self._path) != self._identity:
                raise unusable("its file was removed or replaced", "removed")
            with self._writing.begin() as connection:
                return work(connection)

        return await _done(self._writer, transaction)

    async def aclose(self) -> None:
        """Finish the submitted transactions, then close the file and the threads."""
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self._writer.shutdown()
        self._readers.shutdown()
        self._engine.dispose()


async def _done(threads: Executor, transaction: Callable[[], R]) -> R:
    try:
        turn = threads.submit(transaction)
    except RuntimeError:
        raise unusable("it was closed, or no thread can be started", None) from None
    try:
        with explained():
            return await asyncio.wrap_future(turn)
    except asyncio.CancelledError:
        if not turn.cancel():
            # It has begun, so it is finished before the caller learns of the cancellation.
            with suppress(Exception):
                await asyncio.wrap_future(turn)
        raise


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def sqlite_engine(path: str | os.PathLike[str]) -> Engine:
    """Connections to a file, one for each thread. Nothing is opened yet."""
    engine = create_engine(
        URL.create("sqlite+pysqlite", database=os.fspath(path)),
        hide_parameters=True,
        # Threads pass connections on to each other, but never share one.
        connect_args={"check_same_thread": False},
        poolclass=QueuePool,
        pool_size=_READERS + 1,
        max_overflow=0,
        pool_use_lifo=True,  # the one that was used last knows most pages and statements
    )
    event.listen(engine, "connect", _connected)
    event.listen(engine, "begin", _began)
    return engine


def make_file(path: Path) -> None:
    """Make the file where there is none, for its owner only; readers and writers share it (WAL)."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as error:
        raise StoreError(
            f"The file of the store cannot be opened ({type(error).__name__}). Its folder must"
            " exist, and both must be writable.",
            state="read-only",
        ) from None
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
    # A transaction that reads first and writes later fails if another one wrote in between.
    writes = connection.get_execution_options().get(WRITES, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
