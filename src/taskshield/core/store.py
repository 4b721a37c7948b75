"""The store protocol: what a server remembers of sessions, decisions, approvals and keys.

Plain values, texts already written: a store neither reads nor changes what it keeps. Everything
belongs to a tenant, and no method looks beyond the tenant that it is given.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Generic, Literal, Protocol, TypeVar

from taskshield.core.decisions import Action, Check
from taskshield.core.tools import Tier

T = TypeVar("T")

ApprovalStatus = Literal["pending", "approved", "denied", "expired"]
Scope = Literal["check", "proxy", "approve", "admin"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSession:
    """A session as it was last written down."""

    tenant: str
    id: str
    version: int
    """Grows by one with every write; a write must name the version that it goes on from."""
    state: str | None
    """The session's JSON, or None where texts are not to be stored."""
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRecord:
    """One decision. Records are only ever added, until they are too old to be kept."""

    id: str
    tenant: str
    session: str
    number: int
    """Of the message in its session."""
    at: datetime
    surface: str
    """Where it was asked for: "azure", "agent-hooks", "proxy", "native", "claude-code", ..."""
    level: str
    action: Action
    check: Check
    tier: Tier | None
    """Highest risk tier among the calls."""
    judge: str
    elapsed_ms: float
    summary: str
    """One line for people; empty where texts are not to be stored."""
    case: str | None
    """The case as JSON, from which the decision replays; None where texts are not to be stored."""
    digest: str
    """Hash of the case as it was before anything in it was left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """A person is asked whether something that was held back may go on."""

    id: str
    tenant: str
    session: str
    decision: str
    summary: str
    created_at: datetime
    deadline: datetime
    status: ApprovalStatus = "pending"
    decided_at: datetime | None = None
    decided_by: str | None = None
    """Name of the key with which it was decided."""
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """A key as it is kept: never itself, only its hash."""

    id: str
    tenant: str
    name: str
    hash: str
    scopes: frozenset[Scope]
    per_minute: int | None
    """Requests allowed in a minute; as the settings say where None."""
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditQuery:
    """Which records to look for; what is None does not matter."""

    session: str | None = None
    action: Action | None = None
    check: Check | None = None
    tier: Tier | None = None
    judge: str | None = None
    surface: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    words: str | None = None
    """Found anywhere in the summary, whatever the case; a plain text, no pattern."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[T]):
    """Some of many, newest first."""

    items: tuple[T, ...]
    next: str | None
    """Give this back to get those after them; None at the end."""


class Store(Protocol):
    """Remembers. Raises `StoreError` when it cannot; what it acknowledged is not lost."""

    async def session(self, tenant: str, id: str) -> StoredSession | None:
        """A session, or None where there is none."""
        ...

    async def sessions(
        self, tenant: str, *, after: str | None = None, limit: int = 50
    ) -> Page[StoredSession]:
        """Sessions, those written last first."""
        ...

    async def commit(
        self,
        session: StoredSession,
        records: Sequence[AuditRecord],
        approvals: Sequence[Approval] = (),
        names: Sequence[str] = (),
    ) -> None:
        """Write a session's next version, its new decisions and approvals, all or nothing.

        Args:
            session: As it is now.
            records: Of its new decisions.
            approvals: What now waits for a person.
            names: Other names by which it is found from now on, e.g. the id of a model's response.

        Raises:
            StoreConflict: Somebody else wrote this version meanwhile.
        """
        ...

    async def named(self, tenant: str, names: Sequence[str]) -> Mapping[str, str]:
        """The sessions that have these other names, by name."""
        ...

    async def decision(self, tenant: str, id: str) -> AuditRecord | None:
        """One record."""
        ...

    async def search(
        self, tenant: str, query: AuditQuery, *, after: str | None = None, limit: int = 50
    ) -> Page[AuditRecord]:
        """Records, newest first."""
        ...

    async def approval(self, tenant: str, id: str) -> Approval | None:
        """One approval; one that is past its deadline has expired."""
        ...

    async def approvals(
        self,
        tenant: str,
        *,
        status: ApprovalStatus | None = None,
        after: str | None = None,
        limit: int = 50,
    ) -> Page[Approval]:
        """Approvals, newest first."""
        ...

    async def decide(
        self, tenant: str, id: str, *, approve: bool, by: str, note: str = ""
    ) -> Approval | None:
        """Approve or deny, once; gives the approval as it is now, whoever decided first."""
        ...

    async def add_key(self, key: ApiKey) -> None:
        """Keep a new key."""
        ...

    async def key(self, hash: str) -> ApiKey | None:
        """The key with this hash, of any tenant: this is how a tenant is found."""
        ...

    async def keys(self, tenant: str | None = None) -> tuple[ApiKey, ...]:
        """All keys, or those of a tenant."""
        ...

    async def revoke_key(self, id: str) -> bool:
        """Revoke a key; whether there was one that was not revoked yet."""
        ...

    async def prune(self, *, older_than: timedelta | None, keep: int | None) -> int:
        """Forget what is too old or too much: sessions, records, approvals. Gives how many rows."""
        ...

    async def ping(self) -> None:
        """Raise where the store cannot be read and written."""
        ...

    async def aclose(self) -> None:
        """Let go of connections and files."""
        ...
