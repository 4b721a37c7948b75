"""Opens a store in a Postgres database."""

import asyncpg
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from taskshield.core.errors import ConfigError, StoreError
from taskshield.stores.failures import explained, postgres_reason
from taskshield.stores.migrating import migrate
from taskshield.stores.sql import SqlStore

_CONNECT_S = 10.0
_STATEMENT_S = 30.0


async def open_postgres(dsn: str) -> SqlStore:
    """The store in this database, which servers may share.

    Args:
        dsn: Anything that libpq takes as a URL: several hosts, sslmode, a socket's folder, ...

    Raises:
        ConfigError: The URL makes no sense; it is not shown.
        StoreError: The database cannot be used, or was written by a newer release.
    """
    engine = postgres_engine(dsn)
    try:
        with explained():
            await migrate(engine)
    except BaseException:
        await engine.dispose()
        raise
    return SqlStore(engine)


def postgres_engine(dsn: str) -> AsyncEngine:
    """Connections to a database. Nothing is opened yet."""

    async def connect() -> asyncpg.Connection:
        try:
            return await asyncpg.connect(dsn, timeout=_CONNECT_S, command_timeout=_STATEMENT_S)
        except ValueError:
            raise ConfigError("the URL of the store is not one that Postgres understands") from None
        except asyncpg.InterfaceError as error:
            raise StoreError(f"the store cannot be used: {type(error).__name__}") from None
        except asyncpg.PostgresError as error:
            reason = postgres_reason(str(error.sqlstate))
            raise StoreError(f"the store cannot be used: {reason}") from None

    return create_async_engine(
        "postgresql+asyncpg://",
        async_creator=connect,
        hide_parameters=True,
        isolation_level="READ COMMITTED",
        pool_pre_ping=True,  # connections from before a restart of the database are replaced
    )
