"""Rows of an SQL database as values: reading, writing and paging, alike for all tables."""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import fields
from typing import Any, TypeVar

from sqlalchemy import Column, ColumnElement, Insert, Select, Table, literal, select, tuple_
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

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
from taskshield.stores.failures import explained
from taskshield.stores.paging import Place, checked_limit, page, place, read_cursor
from taskshield.stores.tables import NEWEST

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

WRITES = "taskshield_writes"
"""Execution option of connections that are about to write."""


class SqlRows:
    """A database whose tables are up to date."""

    def __init__(
        self,
        engine: AsyncEngine,
        *,
        turn: AbstractAsyncContextManager[None] | None = None,
    ) -> None:
        """Use the engine, and own it from now on.

        Args:
            engine: Connections to the database.
            turn: Held while something is written.
        """
        self._engine = engine
        self._writer = engine.execution_options(**{WRITES: True})
        self._turn = nullcontext() if turn is None else turn

    async def aclose(self) -> None:
        """Let go of connections and files."""
        await self._engine.dispose()

    @property
    def _is_sqlite(self) -> bool:
        return self._engine.dialect.name == "sqlite"

    @asynccontextmanager
    async def _reading(self) -> AsyncIterator[AsyncConnection]:
        with explained():
            async with self._engine.connect() as connection:
                yield connection

    @asynccontextmanager
    async def _writing(self) -> AsyncIterator[AsyncConnection]:
        """A transaction; it is committed once this is left."""
        with explained():
            async with self._turn, self._writer.begin() as connection:
                yield connection

    async def _one(self, kind: type[T], table: Table, tenant: str, id: str) -> T | None:
        wanted = select_of(kind, table).where(table.c.tenant == tenant, table.c.id == id)
        found = await self._all(kind, wanted)
        return found[0] if found else None

    async def _all(self, kind: type[T], wanted: Select[Any]) -> list[T]:
        async with self._reading() as connection:
            return [kind(**row._mapping) for row in await connection.execute(wanted)]

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

    def _put(
        self, table: Table, rows: Sequence[Mapping[str, object]], changed: Mapping[str, object]
    ) -> Insert:
        """Add rows; one that is there already is changed."""
        add = sqlite.insert if self._is_sqlite else postgresql.insert
        made = add(table).values(list(rows))
        return made.on_conflict_do_update(
            index_elements=list(table.primary_key.columns), set_=dict(changed)
        )


def row_of(value: T) -> dict[str, Any]:
    """A value as the row that it is."""
    return {field.name: getattr(value, field.name) for field in fields(value)}


def select_of(kind: type[T], table: Table) -> Select[Any]:
    """The columns that a value of this kind is made of."""
    return select(*(table.c[field.name] for field in fields(kind)))


def as_tuple(order: Sequence[Column[Any]], values: Iterable[object]) -> ColumnElement[Any]:
    """Values to be compared with what rows are ordered by."""
    return tuple_(*(literal(value, each.type) for value, each in zip(values, order, strict=True)))


def _values(order: Sequence[Column[Any]], place: Place) -> tuple[object, ...]:
    """The place by what rows are ordered by."""
    return (place.time, place.number, place.id) if len(order) == 3 else (place.time, place.id)
