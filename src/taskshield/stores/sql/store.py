"""A store in an SQL database, with the same statements for SQLite and Postgres.

Over 300 lines: all that the store protocol asks for, but people and the statements for parts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Table,
    bindparam,
    case,
    delete,
    func,
    insert,
    literal,
    select,
    tuple_,
    update,
)
from sqlalchemy.exc import IntegrityError

from taskshield.core.errors import StoreConflict, StoreError
from taskshield.core.session_parts import SessionHead, SessionPart
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
from taskshield.stores.approval_expiry import as_of, utc_now
from taskshield.stores.paging import checked_limit
from taskshield.stores.sql.database import Database
from taskshield.stores.sql.migrate import has_parts
from taskshield.stores.sql.parts import read_parts, remove_parts, write_parts
from taskshield.stores.sql.people import SqlPeople
from taskshield.stores.sql.rows import as_tuple, one_of, put, row_of, select_of
from taskshield.stores.sql.tables import (
    ALIASES,
    APPROVALS,
    LOGINS,
    NEWEST,
    RECORDS,
    SESSIONS,
)
from taskshield.stores.storable_text import check_names, check_names_of

_BATCH = 500
"""Rows that are forgotten in one transaction."""
_SESSIONS = 50
"""Sessions that are forgotten in one transaction: each may have thousands of parts."""

# To put statements together takes as long as to run them, so most are put together only once.
_SESSION = one_of(StoredSession, SESSIONS)
_ADD_SESSION = insert(SESSIONS)
# What is named like a column is written to it, so what is sought has names of its own.
_CHANGE_SESSION = update(SESSIONS).where(
    SESSIONS.c.tenant == bindparam("its_tenant"),
    SESSIONS.c.id == bindparam("its_id"),
    SESSIONS.c.version == bindparam("its_version"),
)
_CONTINUE_SESSION = _CHANGE_SESSION.where(SESSIONS.c.created_at == bindparam("its_beginning"))
_NAMED = select(ALIASES.c.alias, ALIASES.c.session).where(
    ALIASES.c.tenant == bindparam("tenant"), ALIASES.c.alias.in_(bindparam("names"))
)
_DECISION = one_of(AuditRecord, RECORDS)
_ADD_RECORDS = insert(RECORDS)
_TIMELINE = (
    select_of(AuditRecord, RECORDS)
    .where(RECORDS.c.tenant == bindparam("tenant"), RECORDS.c.session == bindparam("session"))
    .where(RECORDS.c.number > bindparam("after"))
    .order_by(RECORDS.c.number, RECORDS.c.id)
    .limit(bindparam("limit"))
)
_TALLIES = (
    select_of(Tally, RECORDS)
    .where(RECORDS.c.tenant == bindparam("tenant"), RECORDS.c.at >= bindparam("since"))
    .order_by(*(column.desc() for column in NEWEST[RECORDS]))
    .limit(bindparam("limit"))
)
_APPROVAL = one_of(Approval, APPROVALS)
_ADD_APPROVALS = insert(APPROVALS)
_EXPIRED_LOGINS = delete(LOGINS).where(LOGINS.c.expires_at <= bindparam("now"))


class SqlStore(SqlPeople):
    """Remembers in a database whose tables are up to date."""

    def __init__(self, database: Database, *, with_parts: bool = False) -> None:
        """Use the database, and own it from now on.

        Args:
            database: Its tables are up to date.
            with_parts: Whether they have parts; where it is not known, the first write finds out.
        """
        super().__init__(database)
        self._with_parts = with_parts

    def document_version(self) -> int:
        """2 once the tables have parts; `taskshield db upgrade` may add them at any time."""
        return 2 if self._with_parts else 1

    async def parts(self, tenant: str, id: str, version: int) -> tuple[SessionPart, ...]:
        """The parts of a session in this version, by kind and position."""
        found = await self._database.read(
            lambda connection: read_parts(connection, tenant, id, version)
        )
        if found is None:
            raise StoreConflict("Another request changed this session meanwhile. Try again.")
        return found

    async def session(self, tenant: str, id: str) -> StoredSession | None:
        """A session, or None where there is none."""
        return await self._one(StoredSession, _SESSION, tenant=tenant, id=id)

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

        def write(connection: Connection) -> None:
            _write_session(connection, session)
            self._write_parts(connection, session)
            if records:
                rows = [row_of(record) | _folded(record) for record in records]
                connection.execute(_ADD_RECORDS, rows)
            if approvals:
                connection.execute(_ADD_APPROVALS, [row_of(each) for each in approvals])
            if names:
                naming = put(ALIASES, is_sqlite=self._database.is_sqlite)
                connection.execute(naming, _names(session, names))

        await self._database.write(write)

    async def named(self, tenant: str, names: Sequence[str]) -> Mapping[str, str]:
        """The sessions that have these other names, by name."""

        def read(connection: Connection) -> dict[str, str]:
            found = connection.execute(_NAMED, {"tenant": tenant, "names": names})
            return {row.alias: row.session for row in found}

        return await self._database.read(read)

    async def decision(self, tenant: str, id: str) -> AuditRecord | None:
        """One record."""
        return await self._one(AuditRecord, _DECISION, tenant=tenant, id=id)

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
        place = {"tenant": tenant, "session": session, "after": after}
        limit = checked_limit(limit)
        return tuple(await self._all(AuditRecord, _TIMELINE, **place, limit=limit))

    async def tallies(self, tenant: str, *, since: datetime, limit: int) -> tuple[Tally, ...]:
        """What counts of the newest records, newest first."""
        limit = checked_limit(limit)
        return tuple(await self._all(Tally, _TALLIES, tenant=tenant, since=since, limit=limit))

    async def approval(self, tenant: str, id: str) -> Approval | None:
        """One approval; one that is past its deadline has expired."""
        found = await self._one(Approval, _APPROVAL, tenant=tenant, id=id)
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
        """Approve or deny. Only the first decision counts; returns the approval as it is now."""
        now = utc_now()
        status = "approved" if approve else "denied"
        undecided = (
            update(APPROVALS)
            .where(APPROVALS.c.tenant == tenant, APPROVALS.c.id == id)
            .where(APPROVALS.c.status == "pending", APPROVALS.c.deadline > now)
        )
        await self._write(undecided, status=status, decided_at=now, decided_by=by, note=note)
        return await self.approval(tenant, id)

    async def prune(self, *, older_than: timedelta | None, keep: int | None) -> int:
        """Forget what is too old or too much; `keep` counts for each tenant and kind of row."""
        forgotten = await self._write(_EXPIRED_LOGINS, now=utc_now())
        for table, order in NEWEST.items():
            for tenant in await self._tenants(table):
                if older_than is not None:
                    old = order[0] < utc_now() - older_than
                    forgotten += await self._forget(table, tenant, old)
                if keep is not None:
                    forgotten += await self._forget_beyond(table, tenant, keep)
        return forgotten

    async def ping(self) -> None:
        """Raise where the store cannot be read and written."""
        await self._database.ping()

    def _has_parts(self, connection: Connection) -> bool:
        if not self._with_parts:
            self._with_parts = has_parts(connection)
        return self._with_parts

    def _write_parts(self, connection: Connection, session: StoredSession) -> None:
        if self._has_parts(connection):
            write_parts(connection, session)
        elif isinstance(session, SessionHead):
            raise StoreError("The store cannot be used: its tables have no parts of sessions.")

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
            place = func.instr if self._database.is_sqlite else func.strpos
            words = literal(query.words.casefold(), RECORDS.c.folded.type)
            wanted.append(place(RECORDS.c.folded, words) > 0)
        return wanted

    async def _tenants(self, table: Table) -> Sequence[str]:
        """Those who have rows."""
        wanted = select(table.c.tenant).distinct()
        return await self._database.read(lambda connection: connection.scalars(wanted).all())

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

        def read(connection: Connection) -> Row[Any] | None:
            return connection.execute(newest).one_or_none()

        first = await self._database.read(read)
        if first is None:
            return 0
        return await self._forget(table, tenant, tuple_(*order) <= as_tuple(order, first))

    async def _forget(self, table: Table, tenant: str, which: ColumnElement[bool]) -> int:
        """Delete rows in batches, so that other transactions do not wait long."""
        key = table.primary_key.columns
        batch = min(_SESSIONS, _BATCH) if table is SESSIONS else _BATCH
        some = (
            select(*key)
            .where(table.c.tenant == tenant, which)
            .limit(batch)
            .with_for_update(skip_locked=True)
        )

        def forget(connection: Connection) -> int:
            gone = connection.execute(some).all()
            if table is SESSIONS and gone and self._has_parts(connection):
                remove_parts(connection, tenant, [row.id for row in gone])
            if gone:
                connection.execute(
                    delete(table).where(tuple_(*key).in_([tuple(row) for row in gone]))
                )
            return len(gone)

        forgotten = 0
        while True:
            gone = await self._database.write(forget)
            forgotten += gone
            if gone < batch:
                return forgotten


def _write_session(connection: Connection, session: StoredSession) -> None:
    conflict = StoreConflict("Another request changed this session first. Try again.")
    row = {field.name: getattr(session, field.name) for field in fields(StoredSession)}
    if session.version == 1:
        try:
            connection.execute(_ADD_SESSION, row)
        except IntegrityError:
            raise conflict from None
        return
    for name in ("tenant", "id", "created_at"):
        del row[name]
    row["its_tenant"] = session.tenant
    row["its_id"] = session.id
    row["its_version"] = session.version - 1
    change = _CHANGE_SESSION
    if isinstance(session, SessionHead) and not session.whole:
        change = _CONTINUE_SESSION
        row["its_beginning"] = session.created_at
    if connection.execute(change, row).rowcount != 1:
        raise conflict


def _names(session: StoredSession, names: Sequence[str]) -> list[dict[str, object]]:
    """Other names for a session; one that another session had is now its own."""
    now = {"session": session.id, "at": utc_now()}
    return [{"tenant": session.tenant, "alias": name, **now} for name in dict.fromkeys(names)]


def _folded(record: AuditRecord) -> dict[str, str]:
    return {"folded": record.summary.casefold()}
