"""Opens a store in a Postgres database."""

from collections.abc import Callable
from typing import TypeVar

import asyncpg
from sqlalchemy import Connection
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from taskshield.core.errors import ConfigError
from taskshield.stores.sql.failures import explained, postgres_failure, unusable
from taskshield.stores.sql.migrate import migrate
from taskshield.stores.sql.store import SqlStore

_CONNECT_S = 10.0
_STATEMENT_S = 30.0
_LOCK_TIMEOUT = (
    "SELECT set_config('lock_timeout', '5s', false) WHERE current_setting('lock_timeout') = '0'"
)
"""How long to wait for another session that has locked a table, unless the URL or the user says."""

R = TypeVar("R")


async def open_postgres(dsn: str) -> SqlStore:
    """The store in this database, which servers may share.

    Args:
        dsn: Anything that libpq takes as a URL: several hosts, sslmode, a socket's folder, ...

    Raises:
        ConfigError: The URL makes no sense; it is not shown.
        StoreError: The database cannot be used, or was written by a newer release.
    """
    database = PostgresDatabase(postgres_engine(dsn))
    try:
        with_parts = await migrate(database)
    except BaseException:
        await database.aclose()
        raise
    return SqlStore(database, with_parts=with_parts)


class PostgresDatabase:
    """A database on a server, asked from the event loop."""

    is_sqlite = False

    def __init__(self, engine: AsyncEngine) -> None:
        """Use the engine, and own it from now on."""
        self._engine = engine

    async def read(self, work: Callable[[Connection], R]) -> R:
        """What the function finds."""
        with explained():
            async with self._engine.connect() as connection:
                return await connection.run_sync(work)

    async def write(self, work: Callable[[Connection], R]) -> R:
        """What the function gives, once it is committed; undone where the caller is cancelled."""
        with explained():
            async with self._engine.begin() as connection:
                return await connection.run_sync(work)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._engine.dispose()


def postgres_engine(dsn: str, *, statement_s: float | None = _STATEMENT_S) -> AsyncEngine:
    """Connections to a database. Nothing is opened yet.

    Args:
        dsn: The URL of the database.
        statement_s: How long a statement may take; None where it may take as long as it needs.
    """

    async def connect() -> asyncpg.Connection:
        try:
            made = await asyncpg.connect(dsn, timeout=_CONNECT_S, command_timeout=statement_s)
            # Not a setting in the connection's first message, which not every pooler takes.
            await made.execute(_LOCK_TIMEOUT)
            return made
        except ValueError:
            raise ConfigError(
                "The URL of the store is not a valid Postgres URL. Use postgresql://user@host/name."
            ) from None
        except asyncpg.InterfaceError as error:
            raise unusable(type(error).__name__, None) from None
        except asyncpg.PostgresError as error:
            raise postgres_failure(str(error.sqlstate)) from None

    return create_async_engine(
        "postgresql+asyncpg://",
        async_creator=connect,
        hide_parameters=True,
        isolation_level="READ COMMITTED",
        pool_pre_ping=True,  # connections from before a restart of the database are replaced
    )
