"""Looks at all of a store: the file, the tables, every row and every document in it.

How documents are read is given to it: here they are texts. It changes nothing.
"""

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from sqlalchemy import Connection, TypeDecorator, select, text
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.exc import DBAPIError

from taskshield.core.errors import StoreError, WireFormatError
from taskshield.core.session_parts import SessionPart
from taskshield.stores.maintenance.backup import level_of
from taskshield.stores.maintenance.connections import read_store
from taskshield.stores.maintenance.plain_rows import (
    Place,
    PlainTable,
    WrongValue,
    read_rows_with_places,
    tables_of,
)
from taskshield.stores.sql.columns import UtcTime
from taskshield.stores.sql.failures import DamagedValue
from taskshield.stores.sql.migrate import levels
from taskshield.stores.sql.tables import METADATA, PARTS, VERSION, WITHOUT_PARTS

_LISTED = 20
"""Problems of a table that are described; the others are counted."""
NO_SESSION = (
    "NOT EXISTS (SELECT 1 FROM taskshield_sessions s"
    f" WHERE s.tenant = {PARTS.name}.tenant AND s.id = {PARTS.name}.session)"
)
"""Of parts: their session is not there."""
_NAMELESS = (
    "SELECT count(*) FROM taskshield_aliases a"
    " WHERE NOT EXISTS (SELECT 1 FROM taskshield_sessions s"
    " WHERE s.tenant = a.tenant AND s.id = a.session)"
)

NEWER = "A newer release has written this store. Update taskshield."

Row = Mapping[str, Any]
Parts = Callable[[], Sequence[SessionPart]]
ReadDocuments = Callable[[str, Row, Parts], None]
"""Reads the documents of a row of a table, with the parts of the session that it is. Raises
`WireFormatError` where it cannot, and `NewerDocument` where a newer release wrote one."""
Progress = Callable[[str, int], None]


class NewerDocument(Exception):
    """A document that this release cannot read, though nothing is wrong with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BadRow:
    """A row that servers cannot use."""

    table: PlainTable
    values: Sequence[object]
    """As they are stored, whatever they are."""
    place: Place
    reason: str
    newer: bool = False
    """Whether servers of a newer release can use it."""

    @property
    def name(self) -> str:
        """What identifies the row in its table."""
        keys = METADATA.tables[self.table.name].primary_key.columns.keys()
        named = zip(self.table.columns, self.values, strict=True)
        return " ".join(f"{each.name} {value!r}" for each, value in named if each.name in keys)


@dataclass(slots=True, kw_only=True)
class Findings:
    """What a check has found."""

    level: str = ""
    """The version of the tables."""
    rows: Counter[str] = field(default_factory=Counter)
    """Rows that could be read, by table."""
    bad: Counter[str] = field(default_factory=Counter)
    """Rows that servers cannot use, by table."""
    problems: list[str] = field(default_factory=list)
    """What is wrong."""
    notes: list[str] = field(default_factory=list)
    """What is worth knowing, but not wrong."""


def check(url: str, read: ReadDocuments, progress: Progress) -> Findings:
    """Look at all of a store.

    Raises:
        ConfigError: The URL names no database.
        StoreError: The database cannot be used at all.
    """
    return read_store(url, lambda connection: _check(connection, read, progress))


def file_problems(connection: Connection) -> list[str]:
    """What SQLite finds wrong with its file; nothing for Postgres."""
    if connection.dialect.name != "sqlite":
        return []
    try:
        found = connection.exec_driver_sql(f"PRAGMA integrity_check({_LISTED})").scalars().all()
    except (DBAPIError, sqlite3.Error):
        found = ["it cannot be read to its end"]
    return [f"The file is damaged: {each}" for each in found if each != "ok"]


def columns_of(tables: Sequence[PlainTable]) -> Mapping[str, Set[str]]:
    """The names of the columns of each table."""
    return {table.name: {column.name for column in table.columns} for table in tables}


def table_problems(level: str, found: Mapping[str, Set[str]]) -> list[str]:
    """What tables of this version lack.

    Args:
        level: The version that is noted in the database.
        found: The tables that are there, each with its columns.
    """
    if level not in levels():
        return [NEWER]
    if level not in (VERSION, WITHOUT_PARTS):
        return []
    problems = []
    for expected in METADATA.sorted_tables:
        if expected is PARTS and level == WITHOUT_PARTS:
            continue
        if expected.name not in found:
            problems.append(f"The table {expected.name} is missing.")
            continue
        missing = {column.name for column in expected.columns} - found[expected.name]
        problems += [f"{expected.name}: the column {name} is missing." for name in sorted(missing)]
    return problems


def bad_rows(
    connection: Connection, table: PlainTable, read: ReadDocuments, seen: Callable[[], None]
) -> Iterator[BadRow]:
    """The rows of a table that servers cannot use.

    Args:
        connection: A transaction.
        table: The table.
        read: Reads documents.
        seen: Called for each row, good or bad.
    """
    for place, values in read_rows_with_places(connection, table):
        seen()
        try:
            row = _row(table, table.check(values))
            read(table.name, row, partial(_parts_of, connection, row))
        except (WrongValue, WireFormatError, NewerDocument) as error:
            newer = isinstance(error, NewerDocument)
            yield BadRow(table=table, values=values, place=place, reason=str(error), newer=newer)


def _parts_of(connection: Connection, session: Row) -> Sequence[SessionPart]:
    """The parts of a session, by kind and position.

    Raises:
        WrongValue: One of them is not what it should be.
    """
    wanted = (
        select(PARTS.c.kind, PARTS.c.position, PARTS.c.text)
        .where(PARTS.c.tenant == session["tenant"], PARTS.c.session == session["id"])
        .order_by(PARTS.c.kind, PARTS.c.position)
    )
    damaged = WrongValue("a part of the session is damaged")
    found = []
    try:
        for kind, position, part in connection.execute(wanted):
            if type(position) is not int:
                raise damaged
            found.append(SessionPart(kind=kind, position=position, text=part))
    except DamagedValue:
        raise damaged from None
    return found


def _check(connection: Connection, read: ReadDocuments, progress: Progress) -> Findings:
    findings = Findings()
    findings.problems += file_problems(connection)
    tables: Sequence[PlainTable] = ()
    try:
        tables = tables_of(connection)
        findings.level = level_of(connection)
    except (DBAPIError, sqlite3.Error) as error:
        _raise_unless_damaged(error)
        findings.problems.append("The list of tables cannot be read.")
        return findings
    except StoreError as error:
        if not tables and not findings.problems:
            raise  # it is no store
        findings.problems.append(str(error))
        return findings
    findings.problems += table_problems(findings.level, columns_of(tables))
    if findings.level in levels() - {VERSION, WITHOUT_PARTS}:
        findings.notes.append("The tables are of an earlier release. A server lifts them.")
    for table in tables:
        try:
            _look_at_rows(connection, table, read, progress, findings)
        except (DBAPIError, sqlite3.Error) as error:
            findings.problems.append(f"{table.name}: not all rows can be read.")
            _raise_unless_damaged(error)
            if connection.dialect.name != "sqlite":
                return findings  # the transaction has failed
    _look_at_links(connection, findings)
    return findings


def _look_at_rows(
    connection: Connection,
    table: PlainTable,
    read: ReadDocuments,
    progress: Progress,
    findings: Findings,
) -> None:
    findings.rows[table.name] = 0

    def seen() -> None:
        findings.rows[table.name] += 1
        progress(table.name, findings.rows[table.name])

    for bad in bad_rows(connection, table, read, seen):
        findings.bad[table.name] += 1
        if findings.bad[table.name] <= _LISTED:
            findings.problems.append(f"{table.name}, {bad.name}: {bad.reason}")
    more = findings.bad[table.name] - _LISTED
    if more > 0:
        findings.problems.append(f"{table.name}: {more} more rows that cannot be read.")


def _look_at_links(connection: Connection, findings: Findings) -> None:
    present = set(findings.rows)
    try:
        if {PARTS.name, "taskshield_sessions"} <= present:
            orphans = connection.scalar(
                text(f"SELECT count(*) FROM {PARTS.name} WHERE {NO_SESSION}")
            )
            if orphans:
                findings.problems.append(f"{PARTS.name}: {orphans} parts of no session.")
        if {"taskshield_aliases", "taskshield_sessions"} <= present:
            names = connection.scalar(text(_NAMELESS))
            if names:
                findings.notes.append(
                    f"{names} names of sessions that were pruned. They are pruned later."
                )
    except (DBAPIError, sqlite3.Error):
        findings.problems.append("It cannot be said whether all parts have a session.")


def _row(table: PlainTable, values: Sequence[object]) -> dict[str, Any]:
    """A row in the types that the server uses, but with times as texts.

    Raises:
        WrongValue: A value is none of its type.
    """
    row = {}
    known = METADATA.tables[table.name].columns
    for column, value in zip(table.columns, values, strict=True):
        kind = known[column.name].type
        if isinstance(value, str) and isinstance(kind, TypeDecorator):
            try:
                value = value if isinstance(kind, UtcTime) else _core_value(kind, value)
            except (ValueError, TypeError, RecursionError):
                raise WrongValue(f"column {column.name!r} has an unknown value") from None
        row[column.name] = value
    return row


def _core_value(kind: TypeDecorator[Any], value: str) -> object:
    return kind.process_result_value(value, DefaultDialect())


def _raise_unless_damaged(error: Exception) -> None:
    """Postgres: anything but damage and what is missing is a failure of the check, no finding."""
    code = getattr(getattr(error, "orig", None), "sqlstate", None)
    if code is not None and not str(code).startswith(("XX", "42P01", "42703")):
        raise error
