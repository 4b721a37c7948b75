"""A store in memory, for tests and for servers whose data may be lost when they stop."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta

from taskshield.core import cache_sizes
from taskshield.core.errors import StoreConflict, StoreError
from taskshield.core.session_parts import SessionPart
from taskshield.core.store import (
    ApiKey,
    Approval,
    ApprovalStatus,
    AuditQuery,
    AuditRecord,
    Label,
    ListedSession,
    Login,
    Page,
    StoredSession,
    Tally,
)
from taskshield.stores.approval_expiry import as_of, utc_now
from taskshield.stores.memory_rows import MemoryRows
from taskshield.stores.memory_sessions import MemorySession, follows, next_session, size_of
from taskshield.stores.paging import Place, checked_limit, place
from taskshield.stores.storable_text import check_names, check_names_of

_LISTED = fields(ListedSession)
_COUNTED = fields(Tally)

_DUPLICATE = "The store already holds this row."


class MemoryStore:
    """Keeps the newest rows of each kind and drops the others."""

    def __init__(self, *, kept: int = 10_000, most_bytes: int = 256 * 1024 * 1024) -> None:
        """Make an empty store.

        Args:
            kept: Most rows of each kind.
            most_bytes: Most bytes of the texts of sessions and of records, half of them each.
        """
        self._sessions = MemoryRows[MemorySession](
            kept,
            lambda session: place(session.row),
            weigh=lambda session: session.bytes,
            most_bytes=most_bytes // 2,
        )
        self._records = MemoryRows[AuditRecord](
            kept, place, weigh=lambda record: size_of(record.case), most_bytes=most_bytes // 2
        )
        self._approvals = MemoryRows[Approval](kept, place)
        self._aliases = MemoryRows[_Alias](kept, lambda alias: Place(alias.at, 0, alias.name))
        self._labels = MemoryRows[Label](kept, place)
        self._logins = MemoryRows[Login](kept, lambda login: Place(login.created_at, 0, login.id))
        self._keys: dict[str, ApiKey] = {}
        cache_sizes.report(
            "memory_store", self, lambda store: store._sessions.bytes + store._records.bytes
        )

    async def session(self, tenant: str, id: str) -> StoredSession | None:
        """A session, or None where there is none."""
        found = self._sessions.get(tenant, id)
        return None if found is None else found.row

    def document_version(self) -> int:
        """2: it can keep parts."""
        return 2

    async def parts(self, tenant: str, id: str, version: int) -> tuple[SessionPart, ...]:
        """The parts of a session in this version, by kind and position."""
        found = self._sessions.get(tenant, id)
        if found is None or found.row.version != version:
            raise StoreConflict("Another request changed this session meanwhile. Try again.")
        return tuple(found.parts[key] for key in sorted(found.parts))

    async def sessions(
        self, tenant: str, *, after: str | None = None, limit: int = 50
    ) -> Page[ListedSession]:
        """Sessions, those written last first."""
        found = self._sessions.page(self._sessions.of(tenant), after, limit)
        return Page(items=tuple(_listed(each.row) for each in found.items), next=found.next)

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
        before = self._sessions.get(session.tenant, session.id)
        if not follows(session, None if before is None else before.row):
            raise StoreConflict("Another request changed this session first. Try again.")
        if not (
            self._records.lacks([(row.tenant, row.id) for row in records])
            and self._approvals.lacks([(row.tenant, row.id) for row in approvals])
        ):
            raise StoreError(_DUPLICATE)
        self._sessions.put(session.tenant, session.id, next_session(session, before))
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

    async def timeline(
        self, tenant: str, session: str, *, after: int = -1, limit: int = 50
    ) -> tuple[AuditRecord, ...]:
        """Records of a session by number, those beyond `after`, in the order they were said."""
        found = [
            record
            for record in self._records.of(tenant)
            if record.session == session and record.number > after
        ]
        found.sort(key=lambda record: (record.number, record.id))
        return tuple(found[: checked_limit(limit)])

    async def tallies(self, tenant: str, *, since: datetime, limit: int) -> tuple[Tally, ...]:
        """What counts of the newest records, newest first."""
        found = [record for record in self._records.of(tenant) if record.at >= since]
        found.sort(key=place, reverse=True)
        return tuple(map(_tally, found[: checked_limit(limit)]))

    async def approval(self, tenant: str, id: str) -> Approval | None:
        """One approval; one that is past its deadline has expired."""
        found = self._approvals.get(tenant, id)
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
        found = (as_of(approval, now) for approval in self._approvals.of(tenant))
        fitting = (
            approval
            for approval in found
            if status in (None, approval.status) and session in (None, approval.session)
        )
        return self._approvals.page(fitting, after, limit)

    async def decide(
        self, tenant: str, id: str, *, approve: bool, by: str, note: str = ""
    ) -> Approval | None:
        """Approve or deny. Only the first decision counts; returns the approval as it is now."""
        found = await self.approval(tenant, id)
        if found is None or found.status != "pending":
            return found
        status: ApprovalStatus = "approved" if approve else "denied"
        now = utc_now()
        decided = replace(found, status=status, decided_at=now, decided_by=by, note=note)
        self._approvals.put(tenant, id, decided)
        return decided

    async def set_label(self, label: Label) -> None:
        """Store a reviewer's label for a decision. It replaces an earlier one."""
        check_names(label.tenant, label.decision)
        self._labels.put(label.tenant, label.decision, label)

    async def remove_label(self, tenant: str, decision: str) -> bool:
        """Take a label back; whether there was one."""
        return self._labels.remove(tenant, decision)

    async def labels(
        self, tenant: str, *, after: str | None = None, limit: int = 50
    ) -> Page[Label]:
        """Labels, newest first."""
        return self._labels.page(self._labels.of(tenant), after, limit)

    async def labels_of(self, tenant: str, decisions: Sequence[str]) -> Mapping[str, Label]:
        """The labels that these decisions have, by decision."""
        found = {id: self._labels.get(tenant, id) for id in decisions}
        return {id: label for id, label in found.items() if label is not None}

    async def add_login(self, login: Login) -> None:
        """Keep a new login."""
        check_names(login.id, login.key)
        if not self._logins.lacks([("", login.id)]):
            raise StoreError(_DUPLICATE)
        self._logins.put("", login.id, login)

    async def login(self, id: str) -> Login | None:
        """A login, unless it has expired."""
        found = self._logins.get("", id)
        return None if found is None or found.expires_at <= utc_now() else found

    async def remove_login(self, id: str) -> None:
        """Forget a login, where there is one."""
        self._logins.remove("", id)

    async def add_key(self, key: ApiKey) -> None:
        """Keep a new key."""
        check_names(key.id, key.tenant, key.hash)
        if key.id in self._keys or await self.key(key.hash) is not None:
            raise StoreError(_DUPLICATE)
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
        now = utc_now()
        cutoff = None if older_than is None else now - older_than
        expired = [login.id for login in self._logins.of("") if login.expires_at <= now]
        return sum(self._logins.remove("", id) for id in expired) + sum(
            rows.prune(cutoff, keep)
            for rows in (
                self._sessions,
                self._records,
                self._approvals,
                self._aliases,
                self._labels,
            )
        )

    async def ping(self) -> None:
        """Memory can always be read and written."""

    async def aclose(self) -> None:
        """Nothing to close."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Alias:
    name: str
    session: str
    at: datetime


def _listed(session: StoredSession) -> ListedSession:
    return ListedSession(**{each.name: getattr(session, each.name) for each in _LISTED})


def _tally(record: AuditRecord) -> Tally:
    return Tally(**{each.name: getattr(record, each.name) for each in _COUNTED})


def _fits(record: AuditRecord, query: AuditQuery) -> bool:
    names = ("session", "action", "check", "tier", "judge", "surface", "agent")
    return (
        all(getattr(query, name) in (None, getattr(record, name)) for name in names)
        and (query.since is None or query.since <= record.at)
        and (query.until is None or record.at < query.until)
        and (query.words is None or query.words.casefold() in record.summary.casefold())
    )
