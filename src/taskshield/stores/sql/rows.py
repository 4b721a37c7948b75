"""Rows of an SQL database as values: reading, writing and paging, alike for all tables."""

from collections.abc import Iterable, Sequence
from dataclasses import fields
from functools import cache
from typing import Any, TypeVar

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Insert,
    Select,
    Table,
    UpdateBase,
    bindparam,
    literal,
    select,
    tuple_,
)
from sqlalchemy.dialects import postgresql, sqlite

from taskshield.core.store import (
    ApiKey,
    Approval,
    AuditRecord,
    Label,
    ListedSession,
    Login,
    Page,
    StoredSession,
    Tally,
)
from taskshield.stores.paging import Place, checked_limit, page, place, read_cursor
from taskshield.stores.sql.database import Database
from taskshield.stores.sql.noted_failures import NotedFailures
from taskshield.stores.sql.tables import NEWEST

T = TypeVar(
    "T",
    ListedSession,
    StoredSession,
    AuditRecord,
    Tally,
    Approval,
    Label,
    Login,
    ApiKey,
)
P = TypeVar("P", ListedSession, AuditRecord, Approval, Label)


class SqlRows:
    """A database whose tables are up to date."""

    def __init__(self, database: Database) -> None:
        """Use the database, and own it from now on."""
        self._database = NotedFailures(database)

    @property
    def database(self) -> Database:
        """The database."""
        return self._database

    async def aclose(self) -> None:
        """Close connections, files and threads."""
        await self._database.aclose()

    async def _one(self, kind: type[T], wanted: Select[Any], **values: object) -> T | None:
        found = await self._all(kind, wanted, **values)
        return found[0] if found else None

    async def _all(self, kind: type[T], wanted: Select[Any], **values: object) -> list[T]:
        def read(connection: Connection) -> list[T]:
            return [kind(**row._mapping) for row in connection.execute(wanted, values)]

        return await self._database.read(read)

    async def _write(self, statement: UpdateBase, **values: object) -> int:
        """Write with one statement; how many rows that was."""

        def write(connection: Connection) -> int:
            return connection.execute(statement, values).rowcount

        return await self._database.write(write)

    async def _page(
        self,
        kind: type[P],
        table: Table,
        tenant: str,
        wanted: Sequence[ColumnElement[bool]],
        after: str | None,
        limit: int,
    ) -> Page[P]:
        order = NEWEST[table]
        found = (
            select_of(kind, table)
            .where(table.c.tenant == tenant, *wanted)
            .order_by(*(column.desc() for column in order))
            .limit(checked_limit(limit) + 1)
        )
        if after is not None:
            start = _values(order, read_cursor(after))
            found = found.where(tuple_(*order) < as_tuple(order, start))
        return page(await self._all(kind, found), limit, place)


def row_of(value: T) -> dict[str, Any]:
    """A value as the row that it is."""
    return {field.name: getattr(value, field.name) for field in fields(value)}


def select_of(kind: type[T], table: Table) -> Select[Any]:
    """The columns that a value of this kind is made of."""
    return select(*(table.c[field.name] for field in fields(kind)))


def one_of(kind: type[T], table: Table) -> Select[Any]:
    """The row with a `tenant` and an `id`."""
    return select_of(kind, table).where(
        table.c.tenant == bindparam("tenant"), table.c.id == bindparam("id")
    )


@cache
def put(table: Table, *, is_sqlite: bool) -> Insert:
    """Add rows; one that is there already is changed."""
    added = sqlite.insert(table) if is_sqlite else postgresql.insert(table)
    changed = [column.name for column in table.columns if not column.primary_key]
    return added.on_conflict_do_update(
        index_elements=list(table.primary_key.columns),
        set_={name: added.excluded[name] for name in changed},
    )


def as_tuple(order: Sequence[Column[Any]], values: Iterable[object]) -> ColumnElement[Any]:
    """Values to be compared with what rows are ordered by."""
    return tuple_(*(literal(value, each.type) for value, each in zip(values, order, strict=True)))


def _values(order: Sequence[Column[Any]], place: Place) -> tuple[object, ...]:
    """The place by what rows are ordered by."""
    return (place.time, place.number, place.id) if len(order) == 3 else (place.time, place.id)
