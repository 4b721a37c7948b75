"""Rows of any table of a store as plain values, which both databases and JSON have.

Owns which kinds of values there are. Texts are as they are stored, and times have a time zone.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    Float,
    TableClause,
    Text,
    TextClause,
    cast,
    column,
    inspect,
    literal_column,
    select,
    table,
    text,
    type_coerce,
)
from sqlalchemy.types import NullType, TypeEngine

from taskshield.stores.sql.columns import UtcTime
from taskshield.stores.sql.tables import METADATA

Kind = Literal["text", "time", "whole", "number"]
Place = int | str
"""Where a row is within its database: valid until the transaction ends."""
Value = str | int | float | None
"""A value as JSON has it; a time is a text in ISO format."""

_TYPES: Mapping[Kind, type[TypeEngine[Any]]] = {
    "text": Text,
    "time": UtcTime,
    "whole": BigInteger,
    "number": Float,
}
_AT_ONCE = 20
"""Rows that are fetched at once: sessions may be large."""
_LARGEST = 2**63


class WrongValue(ValueError):
    """A value that its column cannot have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainColumn:
    """A column of a table."""

    name: str
    kind: Kind
    nullable: bool

    def check(self, value: object) -> Value:
        """The value, where the column can have it.

        Raises:
            WrongValue: It cannot.
        """
        if value is None and self.nullable:
            return None
        match self.kind:
            case "text":
                if isinstance(value, str) and _storable(value):
                    return value
            case "time":
                if isinstance(value, str):
                    return _moment(value).isoformat()
            case "whole":
                if type(value) is int and -_LARGEST <= value < _LARGEST:
                    return value
            case "number":
                if type(value) in (int, float) and not math.isnan(value):  # type: ignore[arg-type]
                    return float(value)  # type: ignore[arg-type]
        raise WrongValue(f"column {self.name!r} needs a {self.kind}")

    def stored(self, value: Value) -> object:
        """A checked value as a statement takes it."""
        return _moment(value) if self.kind == "time" and isinstance(value, str) else value


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainTable:
    """A table, with the columns that it has in this database or backup."""

    name: str
    columns: Sequence[PlainColumn]

    @property
    def clause(self) -> TableClause:
        """The table as statements name it."""
        return table(self.name, *(column(each.name, _TYPES[each.kind]()) for each in self.columns))

    def check(self, values: object) -> tuple[Value, ...]:
        """A row, where the table can have it.

        Raises:
            WrongValue: It cannot.
        """
        if not isinstance(values, list | tuple) or len(values) != len(self.columns):
            raise WrongValue("the row has not as many values as the table has columns")
        return tuple(each.check(value) for each, value in zip(self.columns, values, strict=True))


def tables_of(connection: Connection) -> Sequence[PlainTable]:
    """The tables of a store that are in this database, whatever release made them."""
    found = inspect(connection)
    existing = set(found.get_table_names())
    return [
        plain_table(each.name, [str(column["name"]) for column in found.get_columns(each.name)])
        for each in METADATA.sorted_tables
        if each.name in existing
    ]


def plain_table(name: str, columns: Sequence[str]) -> PlainTable:
    """The table with these columns.

    Raises:
        KeyError: No release had such a table or column.
    """
    known = METADATA.tables[name].columns
    return PlainTable(
        name=name,
        columns=tuple(
            PlainColumn(name=each, kind=_kind(known[each]), nullable=bool(known[each].nullable))
            for each in columns
        ),
    )


def read_rows(connection: Connection, source: PlainTable) -> Iterator[tuple[object, ...]]:
    """The rows of a table, none of them checked, and few at a time in memory."""
    for _, row in read_rows_with_places(connection, source):
        yield row


def read_rows_with_places(
    connection: Connection, source: PlainTable, *conditions: TextClause
) -> Iterator[tuple[Place, tuple[object, ...]]]:
    """The rows of a table, and where each of them is in this database."""
    is_sqlite = connection.dialect.name == "sqlite"
    clause = source.clause
    # SQLite may hold anything in any column, so its values are taken as they are.
    wanted: list[ColumnElement[Any]] = [
        type_coerce(each, NullType()) if is_sqlite else each for each in clause.columns
    ]
    place = literal_column("rowid") if is_sqlite else cast(literal_column("ctid"), Text)
    found = connection.execute(
        select(place, *wanted).select_from(clause).where(*conditions),
        execution_options={"yield_per": _AT_ONCE},
    )
    for where, *values in found:
        row = (each.isoformat() if isinstance(each, datetime) else each for each in values)
        yield where, tuple(row)


def delete_row(connection: Connection, source: PlainTable, place: Place) -> None:
    """Delete the row at a place that was read in this transaction."""
    which = (
        "rowid = :place" if isinstance(place, int) else "ctid = CAST(CAST(:place AS text) AS tid)"
    )
    connection.execute(text(f"DELETE FROM {source.name} WHERE {which}"), {"place": place})


def _kind(known: Column[Any]) -> Kind:
    if isinstance(known.type, UtcTime):
        return "time"
    if isinstance(known.type, BigInteger):
        return "whole"
    return "number" if isinstance(known.type, Float) else "text"


def _storable(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in value


def _moment(value: str) -> datetime:
    try:
        found = datetime.fromisoformat(value)
        # SQLite has no time zones: all is in UTC.
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        raise WrongValue("a time is not in ISO format") from None
