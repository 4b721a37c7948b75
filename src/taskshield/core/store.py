"""The store protocol: what a server remembers of sessions, decisions, approvals, keys and people.

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
LabelValue = Literal["wrong", "right"]
"""What a person says of a decision."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedSession:
    """A session as a list shows it; small, however long the conversation."""

    tenant: str
    id: str
    version: int
    """Grows by one with every write; a write must name the version that it goes on from."""
    created_at: datetime
    updated_at: datetime
    surface: str | None = None
    """Where its last decision was asked for; None before the first."""
    agent: str | None = None
    """For which agent that was; None where nobody says."""
    tasks: tuple[str, ...] = ()
    """The beginnings of its first tasks; none where texts are not to be stored."""
    messages: int = 0
    """How many it has seen."""
    blocked: int = 0
    """How many of them were blocked or sent back to be revised."""
    escalated: int = 0
    """How many of them had to wait for a person."""
    last_action: Action | None = None
    last_at: datetime | None = None
    """When that was decided."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSession(ListedSession):
    """A session as it was last written down."""

    state: str | None
    """The session's JSON, or None where texts are not to be stored."""


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
    tools: tuple[str, ...] = ()
    """Tools that the action is about; none where texts are not to be stored."""
    llm_calls: int = 0
    llm_tokens: int = 0
    agent: str | None = None
    """Which agent it is about; None where nobody says."""


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
class Login:
    """Somebody who is logged in on the page, for as long as their key is good."""

    id: str
    """Hash of what the browser holds."""
    key: str
    """Hash of the key that was shown."""
    created_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """A person's word on a decision, the last one that was given."""

    tenant: str
    decision: str
    label: LabelValue
    note: str
    by: str
    """Name of the key with which it was given."""
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What counts of a record."""

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
    """Which records to look for; what is None does not matter."""

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
    ) -> Page[ListedSession]:
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

    async def timeline(
        self, tenant: str, session: str, *, after: int = -1, limit: int = 50
    ) -> tuple[AuditRecord, ...]:
        """Records of a session by number, those beyond `after`, in the order they were said."""
        ...

    async def tallies(self, tenant: str, *, since: datetime, limit: int) -> tuple[Tally, ...]:
        """What counts of the newest records, newest first."""
        ...

    async def approval(self, tenant: str, id: str) -> Approval | None:
        """One approval; one that is past its deadline has expired."""
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
        """Approve or deny, once; gives the approval as it is now, whoever decided first."""
        ...

    async def set_label(self, label: Label) -> None:
        """Keep a person's word on a decision, in the place of an earlier one."""
        ...

    async def remove_label(self, tenant: str, decision: str) -> bool:
        """Take a label back; whether there was one."""
        ...

    async def labels(
        self, tenant: str, *, after: str | None = None, limit: int = 50
    ) -> Page[Label]:
        """Labels, newest first."""
        ...

    async def labels_of(self, tenant: str, decisions: Sequence[str]) -> Mapping[str, Label]:
        """The labels that these decisions have, by decision."""
        ...

    async def add_login(self, login: Login) -> None:
        """Keep a new login."""
        ...

    async def login(self, id: str) -> Login | None:
        """A login, unless it has expired."""
        ...

    async def remove_login(self, id: str) -> None:
        """Forget a login, where there is one."""
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
        """Forget what is too old or too much, and logins that have expired. Gives how many rows.

        Sessions, records, approvals and labels; keys stay.
        """
        ...

    async def ping(self) -> None:
        """Raise where the store cannot be read and written."""
        ...

    async def aclose(self) -> None:
        """Let go of connections and files."""
        ...
