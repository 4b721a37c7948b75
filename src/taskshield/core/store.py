"""The store protocol: sessions, audit records, approvals, labels, API keys and logins.

A store keeps plain values; it neither reads nor changes the texts in them. Everything belongs to a
tenant, and a method sees only the tenant that it is given.

Over 300 lines, because the protocol and the values in its signatures are one contract and are read
together.
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
LabelValue = Literal["wrong", "right"]
"""A person's opinion of a decision."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedSession:
    """A session as lists show it, without its state."""

    tenant: str
    id: str
    version: int
    """Grows by one with every write. A write must have the next version."""
    created_at: datetime
    updated_at: datetime
    surface: str | None = None
    """Surface of its last decision; None before the first."""
    agent: str | None = None
    """Agent of that decision; None if the client does not name one."""
    tasks: tuple[str, ...] = ()
    """The beginnings of its first tasks; empty if texts are not stored."""
    messages: int = 0
    """How many messages it has seen."""
    blocked: int = 0
    """How many of them were blocked or revised."""
    escalated: int = 0
    """How many of them were escalated."""
    last_action: Action | None = None
    last_at: datetime | None = None
    """When the last decision was made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSession(ListedSession):
    """A session with its state."""

    state: str | None
    """The session's JSON; None if texts are not stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRecord:
    """One stored decision. A record never changes, and is deleted when it is too old."""

    id: str
    tenant: str
    session: str
    number: int
    """Number of the message in its session."""
    at: datetime
    surface: str
    """How the message arrived: "azure", "agent-hooks", "proxy", "native", "claude-code", ..."""
    level: str
    action: Action
    check: Check
    tier: Tier | None
    """Highest risk tier among the calls."""
    judge: str
    elapsed_ms: float
    summary: str
    """One line for people; empty if texts are not stored."""
    case: str | None
    """The case as JSON, from which the decision can be made again; None if texts are not stored."""
    digest: str
    """Hash of the whole case, before texts and secrets were removed from it."""
    tools: tuple[str, ...] = ()
    """Tools that the action is about; empty if texts are not stored."""
    llm_calls: int = 0
    llm_tokens: int = 0
    agent: str | None = None
    """The agent; None if the client does not name one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """A request to a person to approve what was escalated, and the answer."""

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
    """Name of the API key of the person who decided."""
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """A stored API key: only its hash, never the key itself."""

    id: str
    tenant: str
    name: str
    hash: str
    scopes: frozenset[Scope]
    per_minute: int | None
    """Requests allowed in a minute; None takes the limit from the settings."""
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """A login of the dashboard, valid while its API key is."""

    id: str
    """Hash of the token in the browser's cookie."""
    key: str
    """Hash of the API key that was used to log in."""
    created_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """A person's opinion of a decision; a later one replaces it."""

    tenant: str
    decision: str
    label: LabelValue
    note: str
    by: str
    """Name of the API key of that person."""
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """The part of an audit record that statistics are made of."""

    at: datetime
    surface: str
    action: Action
    check: Check
    tier: Tier | None
    tools: tuple[str, ...]
    elapsed_ms: float
    llm_calls: int
    llm_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditQuery:
    """Which records to find; None matches any value."""

    session: str | None = None
    action: Action | None = None
    check: Check | None = None
    tier: Tier | None = None
    judge: str | None = None
    surface: str | None = None
    agent: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    words: str | None = None
    """Text that the summary must contain, in upper or lower case; not a pattern."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[T]):
    """A part of a list, newest first."""

    items: tuple[T, ...]
    next: str | None
    """Pass this as `after` to get the next page; None at the end."""


class Store(Protocol):
    """Keeps sessions, records, approvals, labels, keys and logins.

    Raises `StoreError` when it cannot; what it acknowledged is not lost.
    """

    async def session(self, tenant: str, id: str) -> StoredSession | None:
        """A session, or None if there is none."""
        ...

    async def sessions(
        self, tenant: str, *, after: str | None = None, limit: int = 50
    ) -> Page[ListedSession]:
        """Sessions, the last written first."""
        ...

    async def commit(
        self,
        session: StoredSession,
        records: Sequence[AuditRecord],
        approvals: Sequence[Approval] = (),
        names: Sequence[str] = (),
    ) -> None:
        """Write a session's next version, its new records and approvals: all or nothing.

        Args:
            session: The next version.
            records: Its new decisions.
            approvals: Its new requests to a person.
            names: More names under which it can be found, e.g. the id of a model's response.

        Raises:
            StoreConflict: Another process wrote this version first.
        """
        ...

    async def named(self, tenant: str, names: Sequence[str]) -> Mapping[str, str]:
        """The ids of the sessions that have these names, by name."""
        ...

    async def decision(self, tenant: str, id: str) -> AuditRecord | None:
        """One record."""
        ...

    async def search(
        self, tenant: str, query: AuditQuery, *, after: str | None = None, limit: int = 50
    ) -> Page[AuditRecord]:
        """Records, newest first."""
        ...

    async def timeline(
        self, tenant: str, session: str, *, after: int = -1, limit: int = 50
    ) -> tuple[AuditRecord, ...]:
        """Records of a session with a number above `after`, in the order of the messages."""
        ...

    async def tallies(self, tenant: str, *, since: datetime, limit: int) -> tuple[Tally, ...]:
        """The figures of the newest records, newest first."""
        ...

    async def approval(self, tenant: str, id: str) -> Approval | None:
        """One approval; after its deadline its status is "expired"."""
        ...

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
        ...

    async def decide(
        self, tenant: str, id: str, *, approve: bool, by: str, note: str = ""
    ) -> Approval | None:
        """Approve or deny. Only the first answer counts; returns the approval with that answer."""
        ...

    async def set_label(self, label: Label) -> None:
        """Store a person's opinion of a decision; it replaces an earlier one."""
        ...

    async def remove_label(self, tenant: str, decision: str) -> bool:
        """Remove a label. Returns whether there was one."""
        ...

    async def labels(
        self, tenant: str, *, after: str | None = None, limit: int = 50
    ) -> Page[Label]:
        """Labels, newest first."""
        ...

    async def labels_of(self, tenant: str, decisions: Sequence[str]) -> Mapping[str, Label]:
        """The labels of these decisions, by decision."""
        ...

    async def add_login(self, login: Login) -> None:
        """Store a new login."""
        ...

    async def login(self, id: str) -> Login | None:
        """A login, or None if there is none or it has expired."""
        ...

    async def remove_login(self, id: str) -> None:
        """Remove a login, if there is one."""
        ...

    async def add_key(self, key: ApiKey) -> None:
        """Store a new key."""
        ...

    async def key(self, hash: str) -> ApiKey | None:
        """The key with this hash, of any tenant: it says which tenant a request belongs to."""
        ...

    async def keys(self, tenant: str | None = None) -> tuple[ApiKey, ...]:
        """All keys, or those of a tenant."""
        ...

    async def revoke_key(self, id: str) -> bool:
        """Revoke a key. Returns whether there was one that was not revoked yet."""
        ...

    async def prune(self, *, older_than: timedelta | None, keep: int | None) -> int:
        """Delete what is too old or too much, and expired logins. Returns how many rows.

        That is sessions, records, approvals and labels, but no keys.
        """
        ...

    async def ping(self) -> None:
        """Raise if the store cannot be read and written."""
        ...

    async def aclose(self) -> None:
        """Close connections and files."""
        ...
