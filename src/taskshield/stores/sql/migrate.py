"""Brings a database's tables up to date. Safe when several servers start at once.

Tables of the release before are left as they are, because its servers may still use them. Only
`upgrade_tables` changes them.
"""

from collections.abc import Sequence
from threading import Lock

from sqlalchemy import Connection, func, inspect, select, text

from taskshield.core.errors import StoreError
from taskshield.stores.sql.database import Database
from taskshield.stores.sql.tables import METADATA, PARTS, VERSION, VERSION_TABLE, WITHOUT_PARTS

_LOCK = int.from_bytes(b"taskshie", "big")
"""Number of the Postgres lock that lets one server at a time migrate a database."""
_THREADS = Lock()
"""Alembic knows one migration at a time, and files are brought up to date by threads."""
_STEPS = "taskshield.stores.sql:migrations"
_VERSIONS = text(f"SELECT version_num FROM {VERSION_TABLE}")


async def migrate(database: Database) -> bool:
    """Make or change the tables, all or nothing, one server at a time.

    Returns:
        Whether they have parts of sessions.

    Raises:
        StoreError: The tables were made by a newer release, or are not what a release makes.
    """
    return await database.write(lambda connection: _in_turn(connection, upgrade=False))


async def upgrade_tables(database: Database) -> None:
    """Make the tables those of this release, which servers of the release before cannot use.

    Raises:
        StoreError: The tables were made by a newer release, or are not what a release makes.
    """
    await database.write(lambda connection: _in_turn(connection, upgrade=True))


def has_parts(connection: Connection) -> bool:
    """Whether the tables have parts of sessions."""
    return _noted(connection) == [VERSION]


def take_turn(connection: Connection) -> None:
    """Wait until no other process makes tables; none does until this transaction ends."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SET LOCAL lock_timeout = 0"))  # another server may take a while
        connection.execute(select(func.pg_advisory_xact_lock(_LOCK)))


def levels() -> frozenset[str]:
    """The versions of tables that this release can make."""
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", _STEPS)
    return frozenset(step.revision for step in ScriptDirectory.from_config(config).walk_revisions())


def make_tables(connection: Connection, level: str) -> None:
    """Make the tables of this version, which a database does not have yet.

    The caller has taken its turn, and no other thread of this process makes tables.
    """
    _upgrade(connection, level)


def _in_turn(connection: Connection, *, upgrade: bool) -> bool:
    if connection.dialect.name == "postgresql":
        take_turn(connection)
        return _bring_up(connection, upgrade=upgrade)
    with _THREADS:
        return _bring_up(connection, upgrade=upgrade)


def _bring_up(connection: Connection, *, upgrade: bool) -> bool:
    noted = _noted(connection) if inspect(connection).has_table(VERSION_TABLE) else []
    target = VERSION if upgrade or noted in ([], [VERSION]) else WITHOUT_PARTS
    if noted != [target]:
        _upgrade(connection, target)
    for table in METADATA.sorted_tables:
        if table is not PARTS or target == VERSION:
            connection.execute(select(table).limit(0))  # fails where another program made them
    return target == VERSION


def _noted(connection: Connection) -> Sequence[str]:
    return connection.scalars(_VERSIONS).all()


def _upgrade(connection: Connection, target: str) -> None:
    # Takes a while to load, and a server hardly ever needs it when it starts.
    from alembic import command
    from alembic.config import Config
    from alembic.runtime.migration import MigrationContext

    config = Config()
    config.set_main_option("script_location", _STEPS)
    config.attributes["connection"] = connection
    noted = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
    if not levels().issuperset(noted.get_current_heads()):
        raise StoreError(
            "The store was written by a newer release of taskshield. Update taskshield, or use"
            " another store."
        )
    command.upgrade(config, target)
