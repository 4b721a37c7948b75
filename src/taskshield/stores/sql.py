"""A store in an SQL database, with the same statements for SQLite and Postgres."""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import fields
from datetime import timedelta
from typing import Any, TypeVar

from sqlalchemy import (
    Column,
    ColumnElement,
    Insert,
    Select,
    Table,
    case,
    delete,
    func,
    insert,
    literal,
    select,
    text,
    tuple_,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from taskshield.core.errors import StoreConflict
from taskshield.core.store import (
    ApiKey,
    Approval,
    ApprovalStatus,
    AuditQuery,
    AuditRecord,
    Page,
    StoredSession,
)
from taskshield.stores.deadlines import as_of, utc_now
from taskshield.stores.failures import explained
from taskshield.stores.paging import Place, checked_limit, page, place, read_cursor
from taskshield.stores.tables import (
    ALIASES,
    APPROVALS,
    KEYS,
    NEWEST,
    RECORDS,
    SESSIONS,
    VERSION_TABLE,
)
from taskshield.stores.texts import check_names, check_names_of

T = TypeVar("T", StoredSession, AuditRecord, Approval, ApiKey)
P = TypeVar("P", StoredSession, AuditRecord, Approval)

WRITES = "taskshield_writes"
"""Execution option of connections that are about to write."""
_BATCH = 500
"""Rows that are forgotten in one transaction."""


class SqlStore:
    """Remembers in a database whose tables are up to date."""

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

    async def session(self, tenant: str, id: str) -> StoredSession | None:
        """A session, or None where there is none."""
        return await self._one(StoredSession, SESSIONS, tenant, id)

    async def sessions(
        self, tenant: str, *, after: str | None = None, limit: int = 50
    ) -> Page[StoredSession]:
        """Sessions, those written last first."""
        return await self._page(StoredSession, SESSIONS, tenant, (), after, limit)

    async def commit(
        self,
        session: StoredSession,
        records: Sequence[AuditRecord],
        approvals: Sequence[Approval] = (),
        names: Sequence[str] = (),
    ) -> None:
        """Write a session's next version, its new decisions and approvals, all or nothing."""
        check_names_of(session, records, approvals)
        check_names(*names)
        async with self._writing() as connection:
            await _write_session(connection, session)
            if records:
                rows = [_row(record) | _folded(record) for record in records]
                await connection.execute(insert(RECORDS), rows)
            if approvals:
                await connection.execute(insert(APPROVALS), [_row(each) for each in approvals])
            if names:
                await connection.execute(self._naming(session, names))

    async def named(self, tenant: str, names: Sequence[str]) -> Mapping[str, str]:
        """The sessions that have these other names, by name."""
        wanted = select(ALIASES.c.alias, ALIASES.c.session).where(
            ALIASES.c.tenant == tenant, ALIASES.c.alias.in_(names)
        )
        async with self._reading() as connection:
            found = await connection.execute(wanted)
        return {row.alias: row.session for row in found}

    async def decision(self, tenant: str, id: str) -> AuditRecord | None:
        """One record."""
        return await self._one(AuditRecord, RECORDS, tenant, id)

    async def search(
        self, tenant: str, query: AuditQuery, *, after: str | None = None, limit: int = 50
    ) -> Page[AuditRecord]:
        """Records, newest first."""
        wanted = self._wanted(query)
        return await self._page(AuditRecord, RECORDS, tenant, wanted, after, limit)

    async def approval(self, tenant: str, id: str) -> Approval | None:
        """One approval; one that is past its deadline has expired."""
        found = await self._one(Approval, APPROVALS, tenant, id)
        return None if found is None else as_of(found, utc_now())

    async def approvals(
        self,
        tenant: str,
        *,
        status: ApprovalStatus | None = None,
        after: str | None = None,
        limit: int = 50,
    ) -> Page[Approval]:
        """Approvals, newest first."""
        now = utc_now()
        overdue = (APPROVALS.c.status == "pending") & (APPROVALS.c.deadline <= now)
        current = case((overdue, "expired"), else_=APPROVALS.c.status)
        wanted = () if status is None else (current == status,)
        found = await self._page(Approval, APPROVALS, tenant, wanted, after, limit)
        return Page(items=tuple(as_of(each, now) for each in found.items), next=found.next)

    async def decide(
        self, tenant: str, id: str, *, approve: bool, by: str, note: str = ""
    ) -> Approval | None:
        """Approve or deny, once; gives the approval as it is now, whoever decided first."""
        now = utc_now()
        status = "approved" if approve else "denied"
        decided = (
            update(APPROVALS)
            .where(APPROVALS.c.tenant == tenant, APPROVALS.c.id == id)
            .where(APPROVALS.c.status == "pending", APPROVALS.c.deadline > now)
            .values(status=status, decided_at=now, decided_by=by, note=note)
        )
        async with self._writing() as connection:
            await connection.execute(decided)
        return await self.approval(tenant, id)

    async def add_key(self, key: ApiKey) -> None:
        """Keep a new key."""
        check_names(key.id, key.tenant, key.hash)
        async with self._writing() as connection:
            await connection.execute(insert(KEYS), _row(key))

    async def key(self, hash: str) -> ApiKey | None:
        """The key with this hash, of any tenant."""
        found = await self._all(ApiKey, _select(ApiKey, KEYS).where(KEYS.c.hash == hash))
        return found[0] if found else None

    async def keys(self, tenant: str | None = None) -> tuple[ApiKey, ...]:
        """All keys, or those of a tenant."""
        wanted = _select(ApiKey, KEYS).order_by(KEYS.c.created_at, KEYS.c.id)
        if tenant is not None:
            wanted = wanted.where(KEYS.c.tenant == tenant)
        return tuple(await self._all(ApiKey, wanted))

    async def revoke_key(self, id: str) -> bool:
        """Revoke a key; whether there was one that was not revoked yet."""
        revoked = update(KEYS).where(KEYS.c.id == id, KEYS.c.revoked_at.is_(None))
        async with self._writing() as connection:
            done = await connection.execute(revoked.values(revoked_at=utc_now()))
        return done.rowcount == 1

    async def prune(self, *, older_than: timedelta | None, keep: int | None) -> int:
        """Forget what is too old or too much; `keep` counts for each tenant and kind of row."""
        forgotten = 0
        for table, order in NEWEST.items():
            async with self._reading() as connection:
                tenants = (await connection.scalars(select(table.c.tenant).distinct())).all()
            for tenant in tenants:
                if older_than is not None:
                    old = order[0] < utc_now() - older_than
                    forgotten += await self._forget(table, tenant, old)
                if keep is not None:
                    forgotten += await self._forget_beyond(table, tenant, keep)
        return forgotten

    async def ping(self) -> None:
        """Raise where the store cannot be read and written."""
        async with self._writing() as connection:
            await connection.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = version_num"))

    async def aclose(self) -> None:
        """Let go of connections and files."""
        await self._engine.dispose()

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

    def _naming(self, session: StoredSession, names: Sequence[str]) -> Insert:
        """Other names for a session; one that another session had is now its own."""
        add = sqlite.insert if self._engine.dialect.name == "sqlite" else postgresql.insert
        now = {"session": session.id, "at": utc_now()}
        rows = [{"tenant": session.tenant, "alias": name, **now} for name in dict.fromkeys(names)]
        made = add(ALIASES).values(rows)
        return made.on_conflict_do_update(index_elements=["tenant", "alias"], set_=now)

    async def _one(self, kind: type[T], table: Table, tenant: str, id: str) -> T | None:
        wanted = _select(kind, table).where(table.c.tenant == tenant, table.c.id == id)
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
            _select(kind, table)
            .where(table.c.tenant == tenant, *wanted)
            .order_by(*(column.desc() for column in order))
            .limit(checked_limit(limit) + 1)
        )
        if after is not None:
            start = _values(order, read_cursor(after))
            found = found.where(tuple_(*order) < _tuple(order, start))
        return page(await self._all(kind, found), limit, place)

    def _wanted(self, query: AuditQuery) -> list[ColumnElement[bool]]:
        asked = ("session", "action", "check", "tier", "judge", "surface")
        given = {name: getattr(query, name) for name in asked}
        wanted = [RECORDS.c[name] == value for name, value in given.items() if value is not None]
        if query.since is not None:
            wanted.append(RECORDS.c.at >= query.since)
        if query.until is not None:
            wanted.append(RECORDS.c.at < query.until)
        if query.words is not None:
            # Not LIKE: these are words, no pattern, and may be of any length.
            place = func.instr if self._engine.dialect.name == "sqlite" else func.strpos
            words = literal(query.words.casefold(), RECORDS.c.folded.type)
            wanted.append(place(RECORDS.c.folded, words) > 0)
        return wanted

    async def _forget_beyond(self, table: Table, tenant: str, keep: int) -> int:
        """Forget all of a tenant's rows but the newest."""
        order = NEWEST[table]
        newest = (
            select(*order)
            .where(table.c.tenant == tenant)
            .order_by(*(column.desc() for column in order))
            .offset(keep)
            .limit(1)
        )
        async with self._reading() as connection:
            first = (await connection.execute(newest)).one_or_none()
        if first is None:
            return 0
        return await self._forget(table, tenant, tuple_(*order) <= _tuple(order, first))

    async def _forget(self, table: Table, tenant: str, which: ColumnElement[bool]) -> int:
        """Forget rows, a few at a time, so that nobody has to wait long."""
        key = table.primary_key.columns
        some = (
            select(*key)
            .where(table.c.tenant == tenant, which)
            .limit(_BATCH)
            .with_for_update(skip_locked=True)
        )
        forgotten = 0
        while True:
            async with self._writing() as connection:
                done = await connection.execute(delete(table).where(tuple_(*key).in_(some)))
            forgotten += done.rowcount
            if done.rowcount < _BATCH:
                return forgotten


async def _write_session(connection: AsyncConnection, session: StoredSession) -> None:
    conflict = StoreConflict("another write of this session came first")
    if session.version == 1:
        try:
            await connection.execute(insert(SESSIONS), _row(session))
        except IntegrityError:
            raise conflict from None
        return
    written = await connection.execute(
        update(SESSIONS)
        .where(SESSIONS.c.tenant == session.tenant, SESSIONS.c.id == session.id)
        .where(SESSIONS.c.version == session.version - 1)
        .values(version=session.version, state=session.state, updated_at=session.updated_at)
    )
    if written.rowcount != 1:
        raise conflict


def _row(value: T) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in fields(value)}


def _folded(record: AuditRecord) -> dict[str, str]:
    return {"folded": record.summary.casefold()}


def _select(kind: type[T], table: Table) -> Select[Any]:
    return select(*(table.c[field.name] for field in fields(kind)))


def _values(order: Sequence[Column[Any]], place: Place) -> tuple[object, ...]:
    """The place by what rows are ordered by."""
    return (place.time, place.number, place.id) if len(order) == 3 else (place.time, place.id)


def _tuple(order: Sequence[Column[Any]], values: Iterable[object]) -> ColumnElement[Any]:
    """Values to be compared with what rows are ordered by."""
    return tuple_(*(literal(value, each.type) for value, each in zip(values, order, strict=True)))
