"""Brings a database's tables up to date. Safe when several servers start at once."""

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, func, select
from sqlalchemy.ext.asyncio import AsyncEngine

from taskshield.core.errors import StoreError
from taskshield.stores.sql import WRITES
from taskshield.stores.tables import VERSION_TABLE

_LOCK = int.from_bytes(b"taskshie", "big")
"""Number of the lock that servers on one Postgres database take turns with."""


async def migrate(engine: AsyncEngine) -> None:
    """Make or change the tables, all or nothing, one server at a time.

    Raises:
        StoreError: The tables were made by a newer release.
    """
    async with engine.execution_options(**{WRITES: True}).begin() as connection:
        if connection.dialect.name == "postgresql":
            await connection.execute(select(func.pg_advisory_xact_lock(_LOCK)))
        await connection.run_sync(_upgrade)


def _upgrade(connection: Connection) -> None:
    config = Config()
    config.set_main_option("script_location", "taskshield.stores:migrations")
    config.attributes["connection"] = connection
    known = {step.revision for step in ScriptDirectory.from_config(config).walk_revisions()}
    noted = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
    if not known.issuperset(noted.get_current_heads()):
        raise StoreError("the store was written by a newer release of taskshield than this one")
    command.upgrade(config, "head")
