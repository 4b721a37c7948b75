"""Brings a database's tables up to date. Safe when several servers start at once."""

from threading import Lock

from sqlalchemy import Connection, func, inspect, select, text

from taskshield.core.errors import StoreError
from taskshield.stores.sql.database import Database
from taskshield.stores.sql.tables import METADATA, VERSION, VERSION_TABLE

_LOCK = int.from_bytes(b"taskshie", "big")
"""Number of the Postgres lock that lets one server at a time migrate a database."""
_THREADS = Lock()
"""Alembic knows one migration at a time, and files are brought up to date by threads."""


async def migrate(database: Database) -> None:
    """Make or change the tables, all or nothing, one server at a time.

    Raises:
        StoreError: The tables were made by a newer release, or are not what a release makes.
    """
    await database.write(_migrate)


def _migrate(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(_LOCK)))
        _bring_up(connection)
    else:
        with _THREADS:
            _bring_up(connection)


def _bring_up(connection: Connection) -> None:
    if not _up_to_date(connection):
        _upgrade(connection)
    for table in METADATA.sorted_tables:
        connection.execute(select(table).limit(0))  # fails where another program made the tables


def _up_to_date(connection: Connection) -> bool:
    if not inspect(connection).has_table(VERSION_TABLE):
        return False
    noted = connection.scalars(text(f"SELECT version_num FROM {VERSION_TABLE}"))
    return noted.all() == [VERSION]


def _upgrade(connection: Connection) -> None:
    # Takes a while to load, and a server hardly ever needs it when it starts.
    from alembic import command
    from alembic.config import Config
    from alembic.runtime.migration import MigrationContext
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", "taskshield.stores.sql:migrations")
    config.attributes["connection"] = connection
    known = {step.revision for step in ScriptDirectory.from_config(config).walk_revisions()}
    noted = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
    if not known.issuperset(noted.get_current_heads()):
        raise StoreError(
            "The store was written by a newer release of taskshield. Update taskshield, or use"
            " another store."
        )
    command.upgrade(config, "head")
