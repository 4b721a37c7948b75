"""Runs work on the database of a store, without bringing its tables up to date.

The work is a plain function of a connection and runs in the thread of its caller as one
transaction, so that an interrupt ends it at once and undoes what it wrote.
"""

import asyncio
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from sqlalchemy import Connection, text

from taskshield.core.errors import ConfigError, MissingExtraError, StoreError
from taskshield.stores.open_store import postgres_url, sqlite_path
from taskshield.stores.sql.failures import explained
from taskshield.stores.sql.sqlite import WRITES, make_file, sqlite_engine

R = TypeVar("R")


def read_store(url: str, work: Callable[[Connection], R]) -> R:
    """Run work that reads; all that it reads is of one moment.

    Raises:
        ConfigError: The URL names no database.
        StoreError: There is no such file, or the database cannot be used.
    """
    return _run(url, work, write=False)


def write_store(url: str, work: Callable[[Connection], R]) -> R:
    """Run work that writes, all or nothing.

    Raises:
        ConfigError: The URL names no database.
        StoreError: There is no such file, or the database cannot be used.
    """
    return _run(url, work, write=True)


def file_of(url: str) -> Path | None:
    """The SQLite file that a URL names; None where it is a database on a server.

    Raises:
        ConfigError: It names no database.
    """
    if url == "memory:":
        raise ConfigError("The store is in memory, and ends with its server. Choose another one.")
    return sqlite_path(url)


def write_new_store(url: str, work: Callable[[Connection], R]) -> R:
    """Run work that writes. An SQLite file is made, and removed again where the work fails.

    Raises:
        ConfigError: The URL names no database.
        StoreError: The database cannot be used.
    """
    path = file_of(url)
    if path is None:
        return _on_postgres(url, work, write=True)
    existed = path.exists()
    with explained():
        make_file(path)
    try:
        return _on_sqlite(path, work, write=True)
    except BaseException:
        if not existed:
            for suffix in ("", "-wal", "-shm"):
                Path(f"{path}{suffix}").unlink(missing_ok=True)
        raise


def _run(url: str, work: Callable[[Connection], R], *, write: bool) -> R:
    path = file_of(url)
    if path is None:
        return _on_postgres(url, work, write=write)
    if not path.is_file():
        raise StoreError(f"There is no file {path}.")
    return _on_sqlite(path, work, write=write)


def _on_sqlite(path: Path, work: Callable[[Connection], R], *, write: bool) -> R:
    with explained():
        engine = sqlite_engine(path)
        try:
            with engine.execution_options(**{WRITES: write}).connect() as connection:
                _take_all_texts(connection)
                done = work(connection)
                if write:  # in a damaged file not even a transaction that only read can commit
                    connection.commit()
                return done
        finally:
            engine.dispose()


def _take_all_texts(connection: Connection) -> None:
    """Read texts that are damaged, too: what is no UTF-8 becomes lone surrogates."""
    driver = connection.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection)
    driver.text_factory = lambda found: found.decode("utf-8", "surrogateescape")


def _on_postgres(url: str, work: Callable[[Connection], R], *, write: bool) -> R:
    dsn = postgres_url(url)
    try:
        from taskshield.stores.sql.postgres import postgres_engine
    except ModuleNotFoundError as error:
        raise MissingExtraError(str(error.name), "postgres") from error

    async def transaction() -> R:
        engine = postgres_engine(dsn, statement_s=None)  # large tables take their time
        try:
            async with engine.connect() as connection:
                # One snapshot for all statements.
                await connection.execution_options(isolation_level="REPEATABLE READ")
                async with connection.begin():
                    if not write:
                        await connection.execute(text("SET TRANSACTION READ ONLY"))
                    return await connection.run_sync(work)
        finally:
            await engine.dispose()

    with explained():
        return asyncio.run(transaction())
