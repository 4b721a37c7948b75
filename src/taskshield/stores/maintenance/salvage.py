"""Saves what can be read of a damaged SQLite file into a new file. The damaged file stays as it is.

Rows are read in the order of their numbers. Where a page cannot be read, the numbers around it are
divided until what can be read on both sides of it is found.
"""

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from sqlalchemy import Connection, insert
from sqlalchemy.exc import DBAPIError, IntegrityError

from taskshield.core.errors import StoreError
from taskshield.stores.maintenance.backup import Progress, prepare_empty
from taskshield.stores.maintenance.check import NEWER, ReadDocuments, bad_rows
from taskshield.stores.maintenance.connections import file_of, write_new_store
from taskshield.stores.maintenance.plain_rows import PlainTable, WrongValue, delete_row, plain_table
from taskshield.stores.maintenance.repair import Quarantine, move_orphans, usable_never
from taskshield.stores.sql.failures import explained, leaves_file_sound
from taskshield.stores.sql.migrate import levels
from taskshield.stores.sql.tables import (
    KEYS,
    METADATA,
    PARTS,
    VERSION,
    VERSION_TABLE,
    WITHOUT_PARTS,
)

_FAILURES = 20_000
"""Reads of a table that may fail before the rest of a gap is given up."""
_LAST = 2**63 - 1


@dataclass(slots=True, kw_only=True)
class Salvaged:
    """What was saved of a damaged file."""

    rows: Counter[str] = field(default_factory=Counter)
    """Rows that are in the new file, by table."""
    gaps: Counter[str] = field(default_factory=Counter)
    """Places of a table from which rows were lost."""
    moved: Counter[str] = field(default_factory=Counter)
    """Rows that were read, but cannot be used, by table; they are in the quarantine file."""


def salvage(
    url: str, target: Path, quarantine: Path, read: ReadDocuments, progress: Progress
) -> Salvaged:
    """Save what can be read of a damaged SQLite file into a new one.

    Raises:
        ConfigError: The quarantine file exists or cannot be written, or the URL names no file.
        StoreError: The new file exists already or cannot be written, or the damaged one cannot be
            opened, or no table can be found in it.
    """
    path = file_of(url)
    if path is None:
        raise StoreError("This is no SQLite file. Restore a backup, or repair it with Postgres.")
    if not path.is_file():
        raise StoreError(f"There is no file {path}.")
    if target.exists():
        raise StoreError(f"{target} exists already. Choose another name.")
    taken = Quarantine(quarantine)
    # Not the URL's own options: the damaged file must not be written, not even its log.
    address = f"file:{quote(str(path.absolute()))}?mode=ro"
    with explained(), closing(sqlite3.connect(address, uri=True)) as damaged:
        damaged.execute(
            "PRAGMA writable_schema = ON"
        )  # else none of a file that was cut off is read
        damaged.execute("BEGIN")  # all that is read is of one moment
        damaged.text_factory = lambda found: found.decode("utf-8", "surrogateescape")

        def work(connection: Connection) -> Salvaged:
            try:
                saved = _save(damaged, connection, taken, read, progress)
                taken.close()
            except BaseException as error:
                taken.discard(error)
                raise
            saved.moved = taken.rows
            return saved

        return write_new_store(f"sqlite:///{target}", work)


def _save(
    damaged: sqlite3.Connection,
    connection: Connection,
    taken: Quarantine,
    read: ReadDocuments,
    progress: Progress,
) -> Salvaged:
    saved = Salvaged()
    tables = _tables(damaged)
    prepare_empty(connection, _level(damaged, tables))
    for table in tables:
        into = insert(table.clause)
        for values in _readable(damaged, table, saved):
            try:
                row = table.check(values)
                named = zip(table.columns, row, strict=True)
                connection.execute(into, {each.name: each.stored(v) for each, v in named})
            except (WrongValue, IntegrityError) as error:
                reason = str(error) if isinstance(error, WrongValue) else "it is there already"
                taken.add(table, values, reason)
                continue
            saved.rows[table.name] += 1
            progress(table.name, saved.rows[table.name])
    for table in tables:
        if table.name == KEYS.name:
            continue
        places = []
        for bad in usable_never(bad_rows(connection, table, read, lambda: None)):
            taken.add(table, bad.values, bad.reason)
            places.append(bad.place)
        for place in places:
            delete_row(connection, table, place)
            saved.rows[table.name] -= 1
    saved.rows[PARTS.name] -= move_orphans(connection, tables, taken)
    return saved


def _tables(damaged: sqlite3.Connection) -> list[PlainTable]:
    tables = []
    try:
        for each in METADATA.sorted_tables:
            columns = [row[1] for row in damaged.execute(f"PRAGMA table_info({each.name})")]
            if columns:
                tables.append(plain_table(each.name, columns))
    except (sqlite3.Error, KeyError) as error:
        if leaves_file_sound(error):
            raise
        tables = []
    if not tables:
        raise StoreError("No table can be found in the file. Restore a backup.", state="damaged")
    return tables


def _level(damaged: sqlite3.Connection, tables: list[PlainTable]) -> str:
    try:
        noted = damaged.execute(f"SELECT version_num FROM {VERSION_TABLE}").fetchall()
    except sqlite3.Error:
        noted = []
    if len(noted) == 1 and isinstance(noted[0][0], str):
        if noted[0][0] not in levels():
            raise StoreError(NEWER)
        return noted[0][0]
    return VERSION if any(each.name == PARTS.name for each in tables) else WITHOUT_PARTS


def _readable(
    damaged: sqlite3.Connection, table: PlainTable, saved: Salvaged
) -> Iterator[tuple[object, ...]]:
    """All rows of a table that can be read."""
    names = ", ".join(f'"{each.name}"' for each in table.columns)
    query = (
        f"SELECT rowid, {names} FROM {table.name} NOT INDEXED"
        " WHERE rowid BETWEEN ? AND ? ORDER BY rowid"
    )
    failures = 0
    # The last range is the first that is looked at.
    ranges = [(-_LAST - 1, _LAST)]
    top = _highest(damaged, table)
    if top is not None:
        ranges = [(top, _LAST), (-_LAST - 1, top - 1)]
    while ranges:
        first, last = ranges.pop()
        try:
            for place, *values in damaged.execute(query, (first, last)):
                # A damaged tree may lead to any rows, even to the same ones without end.
                if first <= place <= last:
                    first = place + 1
                    yield tuple(values)
        except (sqlite3.Error, ValueError):
            failures += 1
            if failures > _FAILURES or first >= last:
                saved.gaps[table.name] += 1
                continue
            middle = (first + last) // 2
            ranges += [(middle + 1, last), (first, middle)]


def _highest(damaged: sqlite3.Connection, table: PlainTable) -> int | None:
    """The highest number of a row, so that no numbers beyond it are tried."""
    try:
        found = damaged.execute(f"SELECT max(rowid) FROM {table.name}").fetchone()
        return None if found[0] is None else int(found[0])
    except (sqlite3.Error, DBAPIError):
        return None
