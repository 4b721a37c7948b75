"""Repairs a store: builds indexes again, and moves rows that servers cannot use into a file.

What is moved is written to that file first, and deleted only after it is on the disk.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from taskshield.core.errors import ConfigError, StoreError
from taskshield.stores.maintenance.backup import level_of
from taskshield.stores.maintenance.backup_file import new_file
from taskshield.stores.maintenance.check import (
    NEWER,
    NO_SESSION,
    BadRow,
    ReadDocuments,
    bad_rows,
    columns_of,
    file_problems,
    table_problems,
)
from taskshield.stores.maintenance.connections import write_store
from taskshield.stores.maintenance.plain_rows import (
    PlainTable,
    delete_row,
    read_rows_with_places,
    tables_of,
)
from taskshield.stores.sql.failures import leaves_file_sound
from taskshield.stores.sql.tables import KEYS, PARTS, SESSIONS

Progress = Callable[[str, int], None]


class Quarantine:
    """A file for rows that are taken out of a store. It is made with the first row."""

    def __init__(self, path: Path) -> None:
        if path.exists():
            raise ConfigError(f"{path} exists already. Choose another name.")
        self.rows: Counter[str] = Counter()
        self._path = path
        self._file: IO[bytes] | None = None
        self._open = ExitStack()

    def add(self, table: PlainTable, values: Sequence[object], reason: str) -> None:
        """Write a row."""
        if self._file is None:
            self._file = self._open.enter_context(new_file(self._path))
        named = zip(table.columns, values, strict=True)
        row = {each.name: _shown(value) for each, value in named}
        line = json.dumps({"table": table.name, "reason": reason, "row": row})
        self._file.write(line.encode() + b"\n")
        self.rows[table.name] += 1

    def close(self) -> None:
        """Have all of it on the disk, under its name."""
        self._open.close()

    def discard(self, error: BaseException) -> None:
        """Leave no file."""
        self._open.__exit__(type(error), error, error.__traceback__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Repaired:
    """What a repair has done."""

    moved: Counter[str] = field(default_factory=Counter)
    """Rows that are now in the quarantine file, by table."""
    left: tuple[str, ...] = ()
    """What is still wrong."""


def repair(url: str, quarantine: Path, read: ReadDocuments, progress: Progress) -> Repaired:
    """Repair a store in place. No server may use it meanwhile.

    Raises:
        ConfigError: The quarantine file exists or cannot be written, or the URL names no database.
        StoreError: The database cannot be used or has no tables of a store, or its file is damaged
            beyond its indexes.
    """
    taken = Quarantine(quarantine)

    def work(connection: Connection) -> Repaired:
        try:
            repaired = _repair(connection, taken, read, progress)
            taken.close()  # on the disk before the rows are gone
        except BaseException as error:
            taken.discard(error)
            raise
        return repaired

    return write_store(url, work)


def _repair(
    connection: Connection, taken: Quarantine, read: ReadDocuments, progress: Progress
) -> Repaired:
    _reindex(connection)
    if file_problems(connection):
        raise _beyond_repair()
    tables = tables_of(connection)
    left = table_problems(level_of(connection), columns_of(tables))
    if NEWER in left:
        raise StoreError(f"{NEWER} Nothing was changed.")
    for table in tables:
        rows = 0

        def seen(table: PlainTable = table) -> None:
            nonlocal rows
            rows += 1
            progress(table.name, rows)

        found: list[BadRow] = []
        for bad in usable_never(bad_rows(connection, table, read, seen)):
            if table.name == KEYS.name:
                # A server without any key would accept requests of its own machine.
                left.append(f"{table.name}, {bad.name}: {bad.reason}. Revoke or delete it.")
                continue
            taken.add(table, bad.values, bad.reason)
            # Only its place: its values may be large.
            found.append(BadRow(table=table, values=(), place=bad.place, reason=bad.reason))
        for bad in found:
            delete_row(connection, table, bad.place)
    move_orphans(connection, tables, taken)
    return Repaired(moved=taken.rows, left=tuple(left))


def usable_never(rows: Iterable[BadRow]) -> Iterator[BadRow]:
    """Rows that no release can use.

    Raises:
        StoreError: A newer release can use one of them. It must not be taken out.
    """
    for bad in rows:
        if bad.newer:
            raise StoreError(f"{NEWER} {bad.table.name}, {bad.name}: {bad.reason}.")
        yield bad


def _reindex(connection: Connection) -> None:
    try:
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql("REINDEX")
            return
    except (DBAPIError, sqlite3.Error) as error:
        if leaves_file_sound(error):
            raise
        raise _beyond_repair() from None
    for table in tables_of(connection):
        connection.execute(text(f"REINDEX TABLE {table.name}"))


def move_orphans(connection: Connection, tables: Sequence[PlainTable], taken: Quarantine) -> int:
    """Move parts of sessions that are not there; how many."""
    if not {PARTS.name, SESSIONS.name} <= {table.name for table in tables}:
        return 0
    (parts,) = (table for table in tables if table.name == PARTS.name)
    for _, values in read_rows_with_places(connection, parts, text(NO_SESSION)):
        taken.add(parts, values, "a part of no session")
    return connection.execute(text(f"DELETE FROM {PARTS.name} WHERE {NO_SESSION}")).rowcount


def _beyond_repair() -> StoreError:
    return StoreError(
        "The file is damaged beyond its indexes. Restore a backup, or save what can be read into a"
        " new file: taskshield db repair --into NEW.db. Nothing was changed.",
        state="damaged",
    )


def _shown(value: object) -> object:
    """Any value as JSON."""
    if value is None or isinstance(value, str | int | float):
        return value
    return {"hex": value.hex()} if isinstance(value, bytes) else str(value)
