"""A store in memory: for tests, and for servers that need not remember past their end."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Generic, TypeVar

from taskshield.core.errors import StoreConflict, StoreError
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
from taskshield.stores.paging import Place, checked_limit, page, place, read_cursor
from taskshield.stores.texts import check_names, check_names_of

T = TypeVar("T")


class MemoryStore:
    """Keeps the newest rows of each kind, and forgets the others."""

    def __init__(self, *, kept: int = 10_000) -> None:
        self._sessions = _Rows[StoredSession](kept, place)
        self._records = _Rows[AuditRecord](kept, place)
        self._approvals = _Rows[Approval](kept, place)
        self._aliases = _Rows[_Alias](kept, lambda alias: Place(alias.at, 0, alias.name))
        self._keys: dict[str, ApiKey] = {}

    async def session(self, tenant: str, id: str) -> StoredSession | None:
        """A session, or None where there is none."""
        return self._sessions.get(tenant, id)

    async def sessions(
        self, tenant: str, *, after: str | None = None, limit: int = 50
    ) -> Page[StoredSession]:
        """Sessions, those written last first."""
        return self._sessions.page(self._sessions.of(tenant), after, limit)

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
        now = self._sessions.get(session.tenant, session.id)
        if (0 if now is None else now.version) != session.version - 1:
            raise StoreConflict("another write of this session came first")
        if not (
            self._records.lacks([(row.tenant, row.id) for row in records])
            and self._approvals.lacks([(row.tenant, row.id) for row in approvals])
        ):
            raise StoreError("the store refused a row that it holds already")
        created_at = session.created_at if now is None else now.created_at
        self._sessions.put(session.tenant, session.id, replace(session, created_at=created_at))
        for record in records:
            self._records.put(record.tenant, record.id, record)
        for approval in approvals:
            self._approvals.put(approval.tenant, approval.id, approval)
        for name in names:
            row = _Alias(name=name, session=session.id, at=utc_now())
            self._aliases.put(session.tenant, name, row)

    async def named(self, tenant: str, names: Sequence[str]) -> Mapping[str, str]:
        """The sessions that have these other names, by name."""
        found = {name: self._aliases.get(tenant, name) for name in names}
        return {name: alias.session for name, alias in found.items() if alias is not None}

    async def decision(self, tenant: str, id: str) -> AuditRecord | None:
        """One record."""
        return self._records.get(tenant, id)

    async def search(
        self, tenant: str, query: AuditQuery, *, after: str | None = None, limit: int = 50
    ) -> Page[AuditRecord]:
        """Records, newest first."""
        found = (record for record in self._records.of(tenant) if _fits(record, query))
        return self._records.page(found, after, limit)

    async def approval(self, tenant: str, id: str) -> Approval | None:
        """One approval; one that is past its deadline has expired."""
        found = self._approvals.get(tenant, id)
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
        found = (as_of(approval, now) for approval in self._approvals.of(tenant))
        fitting = (approval for approval in found if status in (None, approval.status))
        return self._approvals.page(fitting, after, limit)

    async def decide(
        self, tenant: str, id: str, *, approve: bool, by: str, note: str = ""
    ) -> Approval | None:
        """Approve or deny, once; gives the approval as it is now, whoever decided first."""
        found = await self.approval(tenant, id)
        if found is None or found.status != "pending":
            return found
        status: ApprovalStatus = "approved" if approve else "denied"
        now = utc_now()
        decided = replace(found, status=status, decided_at=now, decided_by=by, note=note)
        self._approvals.put(tenant, id, decided)
        return decided

    async def add_key(self, key: ApiKey) -> None:
        """Keep a new key."""
        check_names(key.id, key.tenant, key.hash)
        if key.id in self._keys or await self.key(key.hash) is not None:
            raise StoreError("the store refused a row that it holds already")
        self._keys[key.id] = key

    async def key(self, hash: str) -> ApiKey | None:
        """The key with this hash, of any tenant."""
        return next((key for key in self._keys.values() if key.hash == hash), None)

    async def keys(self, tenant: str | None = None) -> tuple[ApiKey, ...]:
        """All keys, or those of a tenant."""
        found = (key for key in self._keys.values() if tenant in (None, key.tenant))
        return tuple(sorted(found, key=lambda key: (key.created_at, key.id)))

    async def revoke_key(self, id: str) -> bool:
        """Revoke a key; whether there was one that was not revoked yet."""
        key = self._keys.get(id)
        if key is None or key.revoked_at is not None:
            return False
        self._keys[id] = replace(key, revoked_at=utc_now())
        return True

    async def prune(self, *, older_than: timedelta | None, keep: int | None) -> int:
        """Forget what is too old or too much; `keep` counts for each tenant and kind of row."""
        cutoff = None if older_than is None else utc_now() - older_than
        return sum(
            rows.prune(cutoff, keep)
            for rows in (self._sessions, self._records, self._approvals, self._aliases)
        )

    async def ping(self) -> None:
        """Memory can always be read and written."""

    async def aclose(self) -> None:
        """There is nothing to let go of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Alias:
    name: str
    session: str
    at: datetime


class _Rows(Generic[T]):
    """Rows by tenant and id. What was written longest ago is forgotten first."""

    def __init__(self, kept: int, place: Callable[[T], Place]) -> None:
        self._kept = kept
        self._place = place
        self._rows: dict[tuple[str, str], T] = {}

    def get(self, tenant: str, id: str) -> T | None:
        return self._rows.get((tenant, id))

    def lacks(self, keys: Sequence[tuple[str, str]]) -> bool:
        return len(set(keys)) == len(keys) and self._rows.keys().isdisjoint(keys)

    def put(self, tenant: str, id: str, row: T) -> None:
        self._rows.pop((tenant, id), None)
        self._rows[tenant, id] = row
        if len(self._rows) > self._kept:
            del self._rows[next(iter(self._rows))]

    def of(self, tenant: str) -> list[T]:
        return [row for (owner, _), row in self._rows.items() if owner == tenant]

    def page(self, rows: Iterable[T], after: str | None, limit: int) -> Page[T]:
        checked_limit(limit)
        start = None if after is None else read_cursor(after)
        left = [row for row in rows if start is None or self._place(row) < start]
        return page(sorted(left, key=self._place, reverse=True), limit, self._place)

    def prune(self, cutoff: datetime | None, keep: int | None) -> int:
        before = len(self._rows)
        for tenant in {owner for owner, _ in self._rows}:
            own = [(id, row) for (owner, id), row in self._rows.items() if owner == tenant]
            own.sort(key=lambda item: self._place(item[1]), reverse=True)
            for number, (id, row) in enumerate(own):
                old = cutoff is not None and self._place(row).time < cutoff
                if old or (keep is not None and number >= keep):
                    del self._rows[tenant, id]
        return before - len(self._rows)


def _fits(record: AuditRecord, query: AuditQuery) -> bool:
    asked = ("session", "action", "check", "tier", "judge", "surface")
    return (
        all(getattr(query, name) in (None, getattr(record, name)) for name in asked)
        and (query.since is None or query.since <= record.at)
        and (query.until is None or record.at < query.until)
        and (query.words is None or query.words.casefold() in record.summary.casefold())
    )
