"""A store in an SQL database, with the same statements for SQLite and Postgres."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from sqlalchemy import (
    ColumnElement,
    Insert,
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
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from taskshield.core.errors import StoreConflict
from taskshield.core.store import (
    Approval,
    ApprovalStatus,
    AuditQuery,
    AuditRecord,
    ListedSession,
    Page,
    StoredSession,
    Tally,
)
from taskshield.stores.deadlines import as_of, utc_now
from taskshield.stores.paging import checked_limit
from taskshield.stores.sql_people import SqlPeople
from taskshield.stores.sql_rows import as_tuple, row_of, select_of
from taskshield.stores.tables import (
    ALIASES,
    APPROVALS,
    LOGINS,
    NEWEST,
    RECORDS,
    SESSIONS,
    VERSION_TABLE,
)
from taskshield.stores.texts import check_names, check_names_of

_BATCH = 500
"""Rows that are forgotten in one transaction."""


class SqlStore(SqlPeople):
    """Remembers in a database whose tables are up to date."""

    async def session(self, tenant: str, id: str) -> StoredSession | None:
        """A session, or None where there is none."""
        return await self._one(StoredSession, SESSIONS, tenant, id)

    async def sessions(
        self, tenant: str, *, after: str | None = None, limit: int = 50
    ) -> Page[ListedSession]:
        """Sessions, those written last first."""
        return await self._page(ListedSession, SESSIONS, tenant, (), after, limit)

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
                rows = [row_of(record) | _folded(record) for record in records]
                await connection.execute(insert(RECORDS), rows)
            if approvals:
                await connection.execute(insert(APPROVALS), [row_of(each) for each in approvals])
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

    async def timeline(
        self, tenant: str, session: str, *, after: int = -1, limit: int = 50
    ) -> tuple[AuditRecord, ...]:
        """Records of a session by number, those beyond `after`, in the order they were said."""
        wanted = (
            select_of(AuditRecord, RECORDS)
            .where(RECORDS.c.tenant == tenant, RECORDS.c.session == session)
            .where(RECORDS.c.number > after)
            .order_by(RECORDS.c.number, RECORDS.c.id)
            .limit(checked_limit(limit))
        )
        return tuple(await self._all(AuditRecord, wanted))

    async def tallies(self, tenant: str, *, since: datetime, limit: int) -> tuple[Tally, ...]:
        """What counts of the newest records, newest first."""
        wanted = (
            select_of(Tally, RECORDS)
            .where(RECORDS.c.tenant == tenant, RECORDS.c.at >= since)
            .order_by(*(column.desc() for column in NEWEST[RECORDS]))
            .limit(checked_limit(limit))
        )
        return tuple(await self._all(Tally, wanted))

    async def approval(self, tenant: str, id: str) -> Approval | None:
        """One approval; one that is past its deadline has expired."""
        found = await self._one(Approval, APPROVALS, tenant, id)
        return None if found is None else as_of(found, utc_now())

    async def approvals(
        self,
        tenant: str,
        *,
        status: ApprovalStatus | None = None,
        session: str | None = None,
        after: str | None = None,
        limit: int = 50,
    ) -> Page[Approval]:
        """Approvals, newest first."""
        now = utc_now()
        overdue = (APPROVALS.c.status == "pending") & (APPROVALS.c.deadline <= now)
        current = case((overdue, "expired"), else_=APPROVALS.c.status)
        wanted = [] if status is None else [current == status]
        if session is not None:
            wanted.append(APPROVALS.c.session == session)
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

    async def prune(self, *, older_than: timedelta | None, keep: int | None) -> int:
        """Forget what is too old or too much; `keep` counts for each tenant and kind of row."""
        async with self._writing() as connection:
            gone = await connection.execute(delete(LOGINS).where(LOGINS.c.expires_at <= utc_now()))
        forgotten = gone.rowcount
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

    def _naming(self, session: StoredSession, names: Sequence[str]) -> Insert:
        """Other names for a session; one that another session had is now its own."""
        now = {"session": session.id, "at": utc_now()}
        rows = [{"tenant": session.tenant, "alias": name, **now} for name in dict.fromkeys(names)]
        return self._put(ALIASES, rows, now)

    def _wanted(self, query: AuditQuery) -> list[ColumnElement[bool]]:
        asked = ("session", "action", "check", "tier", "judge", "surface", "agent")
        given = {name: getattr(query, name) for name in asked}
        wanted = [RECORDS.c[name] == value for name, value in given.items() if value is not None]
        if query.since is not None:
            wanted.append(RECORDS.c.at >= query.since)
        if query.until is not None:
            wanted.append(RECORDS.c.at < query.until)
        if query.words is not None:
            # Not LIKE: these are words, no pattern, and may be of any length.
            place = func.instr if self._is_sqlite else func.strpos
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
        return await self._forget(table, tenant, tuple_(*order) <= as_tuple(order, first))

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
            await connection.execute(insert(SESSIONS), row_of(session))
        except IntegrityError:
            raise conflict from None
        return
    changed = row_of(session)
    for name in ("tenant", "id", "created_at"):
        del changed[name]
    written = await connection.execute(
        update(SESSIONS)
        .where(SESSIONS.c.tenant == session.tenant, SESSIONS.c.id == session.id)
        .where(SESSIONS.c.version == session.version - 1)
        .values(changed)
    )
    if written.rowcount != 1:
        raise conflict


def _folded(record: AuditRecord) -> dict[str, str]:
    return {"folded": record.summary.casefold()}
