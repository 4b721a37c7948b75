"""A session as it is stored in one version, and how it changes. Values; no store is read here."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Generic, TypeAlias, TypeVar

from taskshield.core.decisions import Action, Decision
from taskshield.core.messages import Message, Text
from taskshield.core.session_state import SessionState
from taskshield.core.store import Approval, AuditRecord
from taskshield.core.tools import ToolSpec
from taskshield.engine.state import with_approval

T = TypeVar("T")

_BYTES_PER_CHARACTER = 5
"""Memory of a session for a character of its texts, as measured on short messages."""
_BYTES_PER_DECISION = 1_500
_BYTES_PER_SCORE = 150

NOT_DONE: frozenset[Action] = frozenset({"block", "revise"})
"""Actions that count as blocked: the agent did not do it, and no person decides about it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredContent:
    """The part of a snapshot that is stored as text."""

    state: SessionState
    names: tuple[str, ...] = ()
    """Names of this snapshot; a later snapshot of its session does not inherit them."""
    decision_ids: tuple[str, ...] = ()
    """Decisions on the messages that the client sees, where the snapshot has a name."""
    approvable: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Fingerprints of the calls that a person may still approve, by approval."""

    def after_approval(self, approval: str) -> "StoredContent":
        """The content once a person has approved: the calls of this approval are allowed once."""
        approvable = dict(self.approvable)
        approved = self.state.approved | approvable.pop(approval)
        return replace(self, state=replace(self.state, approved=approved), approvable=approvable)


@dataclass(frozen=True, slots=True)
class SerializedPart(Generic[T]):
    """A part of a session and its text. It refers to the part, so that its `id` stays unique."""

    value: T
    text: str


SerializedParts: TypeAlias = Mapping[int, SerializedPart[Any]]
"""Parts that are serialized already, by the `id` of the part."""


@dataclass(frozen=True, slots=True)
class StoredPart(Generic[T]):
    """A part of a session with its text, as it is stored at its position."""

    value: T
    text: str
    position: int
    checked: bool
    """Whether this server has redacted it; another one may have stored it as it was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredParts:
    """What is stored of a session beside its head."""

    lists: Mapping[str, tuple[StoredPart[Any], ...]] = field(default_factory=dict)
    """Parts by kind, in order."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """How many parts there are of kinds that only a later release knows."""
    unknown: Mapping[str, object] = field(default_factory=dict)
    """Members of the head that only a later release knows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionKey:
    """A session and its tenant."""

    tenant: str
    session: str


@dataclass(frozen=True, slots=True)
class RequestSource:
    """Where a request for a check came from, as people read it."""

    surface: str
    """For example "azure", "proxy" or "native"."""
    agent: str | None = None
    """Name of the agent; None where the client does not name one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSummary:
    """What a list shows of a session beside its state. Fields are named as in `ListedSession`."""

    surface: str | None = None
    agent: str | None = None
    blocked: int = 0
    escalated: int = 0
    last_action: Action | None = None
    last_at: datetime | None = None

    def after(self, records: Sequence[AuditRecord]) -> "SessionSummary":
        """The summary with these decisions added."""
        if not records:
            return self
        actions = [record.action for record in records]
        return SessionSummary(
            surface=records[-1].surface,
            agent=records[-1].agent,
            blocked=self.blocked + sum(action in NOT_DONE for action in actions),
            escalated=self.escalated + actions.count("escalate"),
            last_action=actions[-1],
            last_at=records[-1].at,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSnapshot:
    """One version of a session."""

    tenant: str
    version: int
    """0 where it is not stored yet."""
    created_at: datetime
    content: StoredContent
    summary: SessionSummary = SessionSummary()
    parts: SerializedParts = field(default_factory=dict)
    """Parts of it that need not be serialized again, where it is stored as one text."""
    stored: StoredParts | None = None
    """Parts of it that need not be stored again; None where it is stored as one text."""
    size: int = 0
    """Characters of its text."""

    @property
    def memory(self) -> int:
        """Bytes that it takes in memory, roughly: texts, and values that were read from them."""
        return _BYTES_PER_CHARACTER * self.size

    @property
    def id(self) -> str:
        """The session's id."""
        return self.content.state.id

    @property
    def key(self) -> SessionKey:
        """The session and its tenant."""
        return SessionKey(tenant=self.tenant, session=self.id)

    @property
    def state(self) -> SessionState:
        """The state of the session."""
        return self.content.state

    def fork(self, id: str) -> "SessionSnapshot":
        """A new session that continues from here; approvals stay with the old one."""
        content = StoredContent(state=replace(self.state, id=id))
        return replace(self, version=0, created_at=datetime.now(UTC), content=content)

    def with_tools(self, tools: Iterable[ToolSpec]) -> "SessionSnapshot":
        """The snapshot with these tools, where it does not have them yet."""
        new = {spec.name: spec for spec in tools if self.state.tools.get(spec.name) != spec}
        if not new:
            return self
        state = replace(self.state, tools={**self.state.tools, **new})
        return replace(self, content=replace(self.content, state=state))


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotChange:
    """The next version of a session, and what is stored with it."""

    content: StoredContent
    records: tuple[AuditRecord, ...] = ()
    approvals: Mapping[str, Approval] = field(default_factory=dict)
    """What now waits for a person, by the id of the decision."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownConversation:
    """A snapshot with the decisions on all messages that led to it."""

    snapshot: SessionSnapshot
    decisions: tuple[Decision, ...]

    @property
    def memory(self) -> int:
        """Bytes that it takes in memory, roughly."""
        return self.snapshot.memory + sum(map(_memory, self.decisions))


def new_snapshot(tenant: str, id: str, tools: Iterable[ToolSpec] = ()) -> SessionSnapshot:
    """The snapshot of a session that is not stored yet."""
    state = SessionState(id=id, tools={spec.name: spec for spec in tools})
    return SessionSnapshot(
        tenant=tenant, version=0, created_at=datetime.now(UTC), content=StoredContent(state=state)
    )


def approvable_calls(state: SessionState, decision: Decision) -> frozenset[str]:
    """Fingerprints of the calls that an approval of this decision would allow."""
    return with_approval(state, decision).approved - state.approved


def size_of(decision: Decision) -> int:
    """Characters of the texts of a decision."""
    return len(decision.content) + text_length(decision.case.message)


def text_length(message: Message) -> int:
    """Characters of a message."""
    texts = sum(len(part.text) for part in message.parts if isinstance(part, Text))
    return texts + sum(len(call.arguments) for call in message.tool_calls)


def _memory(decision: Decision) -> int:
    """Bytes that a decision takes in memory, roughly. Texts may have letters of four bytes."""
    case = decision.case
    scores = sum(
        len(item.scores) + len(item.objective_scores) + len(item.taint_scores)
        for item in case.assessed
    )
    references = 8 * (len(case.tasks) + len(case.tainted))
    texts = _BYTES_PER_CHARACTER * size_of(decision)
    return _BYTES_PER_DECISION + texts + references + _BYTES_PER_SCORE * scores
