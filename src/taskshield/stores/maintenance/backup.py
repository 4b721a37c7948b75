"""Writes a store into a backup, and a backup into an empty store."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import Connection, exists, insert, inspect, select, text

from taskshield._version import __version__
from taskshield.core.errors import StoreError, WireFormatError
from taskshield.stores.maintenance.backup_file import (
    BackupWriter,
    Manifest,
    TableStart,
    new_file,
    read_backup,
)
from taskshield.stores.maintenance.connections import read_store, write_new_store
from taskshield.stores.maintenance.plain_rows import PlainTable, WrongValue, read_rows, tables_of
from taskshield.stores.sql.migrate import levels, make_tables, take_turn
from taskshield.stores.sql.tables import METADATA, VERSION_TABLE

_ROWS = 500
"""Rows that are written with one statement, at most."""
_CHARACTERS = 4_000_000
"""Characters of rows that are written with one statement, unless one row alone has more."""

Progress = Callable[[str, int], None]
"""Is told the name of a table and how many of its rows are done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Copied:
    """What was written."""

    level: str
    """The version of the tables."""
    rows: dict[str, int] = field(default_factory=dict)
    """How many rows, by table."""


def back_up(url: str, path: Path, progress: Progress) -> Copied:
    """Write all rows of a store, as they are at one moment, to a new file.

    Servers may use the store meanwhile.

    Raises:
        ConfigError: The file cannot be written, or the URL names no database.
        StoreError: The store cannot be used, or a value in it is damaged.
    """
    with new_file(path) as file:
        writer = BackupWriter(file)
        return read_store(url, lambda connection: _copy(connection, writer, progress))


def restore(url: str, path: Path, progress: Progress) -> Copied:
    """Write a backup into an empty store, all or nothing. The tables are those of the backup.

    Raises:
        ConfigError: The file cannot be read, or the URL names no database.
        StoreError: The store is not empty, or cannot be used.
        WireFormatError: The file is no backup, or is damaged.
    """
    for _ in read_backup(path):  # to the end, where the checksum is
        pass
    return write_new_store(url, lambda connection: _fill(connection, path, progress))


def level_of(connection: Connection) -> str:
    """The version of the tables.

    Raises:
        StoreError: There are none.
    """
    if inspect(connection).has_table(VERSION_TABLE):
        noted = connection.scalars(text(f"SELECT version_num FROM {VERSION_TABLE}")).all()
        if len(noted) == 1:
            return str(noted[0])
    raise StoreError("There are no tables of taskshield in this database.", state="tables")


def _copy(connection: Connection, writer: BackupWriter, progress: Progress) -> Copied:
    copied = Copied(level=level_of(connection))
    tables = tables_of(connection)
    made_at = datetime.now(UTC).isoformat(timespec="seconds")
    writer.start(Manifest(release=__version__, level=copied.level, made_at=made_at, tables=tables))
    for table in tables:
        writer.table(table.name)
        rows = 0
        for row in read_rows(connection, table):
            try:
                writer.row(table.check(row))
            except WrongValue as error:
                raise StoreError(
                    f"A row of {table.name} is damaged: {error}. Run taskshield db check.",
                    state="damaged",
                ) from None
            rows += 1
            progress(table.name, rows)
        writer.table_end(rows)
        copied.rows[table.name] = rows
    writer.end()
    return copied


def _fill(connection: Connection, path: Path, progress: Progress) -> Copied:
    take_turn(connection)
    copied: Copied | None = None
    batch: _Batch | None = None
    for item in read_backup(path):  # checked again: the file may have changed since
        if isinstance(item, Manifest):
            if item.level not in levels():
                raise WireFormatError(
                    "The backup was made by a newer release. Update taskshield first."
                )
            prepare_empty(connection, item.level)
            copied = Copied(level=item.level)
        elif isinstance(item, TableStart):
            if batch is not None:
                batch.write()
            batch = _Batch(connection, item.table)
            assert copied is not None
            copied.rows[item.table.name] = 0
        else:
            assert batch is not None and copied is not None
            batch.add(item)
            name = batch.table.name
            copied.rows[name] += 1
            progress(name, copied.rows[name])
    assert copied is not None
    if batch is not None:
        batch.write()
    return copied


def prepare_empty(connection: Connection, level: str) -> None:
    """Make the tables of this version in a database that has no rows of a store.

    Raises:
        StoreError: It has some.
    """
    existing = set(inspect(connection).get_table_names())
    names = [each.name for each in METADATA.sorted_tables if each.name in existing]
    if not names and VERSION_TABLE not in existing:
        make_tables(connection, level)
        return
    now = level_of(connection)
    if connection.dialect.name == "postgresql":
        connection.execute(text(f"LOCK TABLE {', '.join(names)} IN ACCESS EXCLUSIVE MODE"))
    for name in names:
        table = METADATA.tables[name]
        if connection.scalar(select(exists(select(text("1")).select_from(table)))):
            raise StoreError(
                "The store is not empty. Restore into an empty one: nothing was changed."
            )
    if now == level:
        return
    # They are empty, so nothing is lost.
    for name in [*names, VERSION_TABLE]:
        connection.execute(text(f"DROP TABLE {name}"))
    if connection.dialect.name == "postgresql":
        connection.execute(text("DROP FUNCTION IF EXISTS taskshield_records_stay()"))
    make_tables(connection, level)


class _Batch:
    """Rows of a table that are about to be written."""

    def __init__(self, connection: Connection, table: PlainTable) -> None:
        self.table = table
        self._connection = connection
        self._insert = insert(table.clause)
        self._rows: list[dict[str, object]] = []
        self._characters = 0

    def add(self, values: object) -> None:
        """Add a row; write where there are enough."""
        row = self.table.check(values)
        columns = self.table.columns
        self._rows.append(
            {each.name: each.stored(value) for each, value in zip(columns, row, strict=True)}
        )
        self._characters += sum(len(value) for value in row if isinstance(value, str))
        if len(self._rows) >= _ROWS or self._characters >= _CHARACTERS:
            self.write()

    def write(self) -> None:
        """Write the rows that were added."""
        if self._rows:
            self._connection.execute(self._insert, self._rows)
        self._rows = []
        self._characters = 0
