"""A session at one point of its life, and the names by which that point is found again.

A stateless client sends its whole conversation every time. Each beginning of it has a name, made of
all that was said up to there, so that the next request finds the session where it left off.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import Any, Generic, TypeAlias, TypeVar

from taskshield.core.decisions import Action, Decision
from taskshield.core.messages import Conversation, Message, Opaque, digest
from taskshield.core.store import AuditRecord
from taskshield.core.tools import ToolAnnotations, ToolSpec
from taskshield.engine.state import SessionState, with_approval

T = TypeVar("T")

NOT_DONE: frozenset[Action] = frozenset({"block", "revise"})
"""What counts as blocked: it was not done, and nobody is asked whether it may be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredContent:
    """What is written down of a session."""

    state: SessionState
    names: tuple[str, ...] = ()
    """Names of this very point; a session that has moved on has them no more."""
    line: tuple[str, ...] = ()
    """Ids of the decisions on the messages that the client sees, where the point has a name."""
    held: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Fingerprints of what a person may still let through, by approval."""


@dataclass(frozen=True, slots=True)
class SerializedPart(Generic[T]):
    """A part of a session and its text. It holds on to the part, whose id nothing else can have."""

    value: T
    text: str


Pieces: TypeAlias = Mapping[int, SerializedPart[Any]]
"""Parts that were written down, by the id of the part."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionKey:
    """Which session of whom."""

    tenant: str
    session: str


@dataclass(frozen=True, slots=True)
class RequestSource:
    """Who asks for a check, for people to read."""

    surface: str
    """Where: "azure", "proxy", "native", ..."""
    agent: str | None = None
    """For which agent; None where nobody says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSummary:
    """What a list shows of a session, beside what its state says."""

    surface: str | None = None
    agent: str | None = None
    blocked: int = 0
    escalated: int = 0
    last_action: Action | None = None
    last_at: datetime | None = None

    def after(self, records: Sequence[AuditRecord]) -> "SessionSummary":
        """Once these have been decided, too."""
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
    """A session as it was written down in one version."""

    tenant: str
    version: int
    """0 where it has not been written down yet."""
    created_at: datetime
    kept: StoredContent
    overview: SessionSummary = SessionSummary()
    pieces: Pieces = field(default_factory=dict)
    """Parts of it that need not be written anew."""
    size: int = 0
    """Characters of its text."""

    @property
    def id(self) -> str:
        """The session's id."""
        return self.kept.state.id

    @property
    def place(self) -> SessionKey:
        """Which session it is, and whose."""
        return SessionKey(tenant=self.tenant, session=self.id)

    @property
    def state(self) -> SessionState:
        """What the session knows."""
        return self.kept.state

    def forked(self, id: str, at: datetime) -> "SessionSnapshot":
        """A new session that goes on from here; approvals stay with the old one."""
        kept = StoredContent(state=replace(self.state, id=id))
        return replace(self, version=0, created_at=at, kept=kept)


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownConversation:
    """A point with the decisions on all messages that led to it."""

    point: SessionSnapshot
    decisions: tuple[Decision, ...]

    @property
    def size(self) -> int:
        """About so many characters: of the session, and of what was decided about."""
        return self.point.size + sum(map(_size, self.decisions))


def approvable_calls(state: SessionState, decision: Decision) -> frozenset[str]:
    """Fingerprints that an approval of this decision would let through."""
    return with_approval(state, decision).approved - state.approved


def conversation_names(seed: str, conversation: Conversation) -> list[str]:
    """Names of all beginnings of a conversation, the empty one first.

    Args:
        seed: All else that decisions depend on: judge and policy.
        conversation: What was said so far.
    """
    return list(_names(seed, conversation))


def _names(seed: str, conversation: Conversation) -> Iterator[str]:
    name = digest(seed, *sorted(map(_tool, conversation.tools)))
    yield name
    for message in conversation.messages:
        name = digest(name, _said(message))
        yield name


def _size(decision: Decision) -> int:
    message = decision.case.message
    arguments = sum(len(call.arguments) for call in message.tool_calls)
    return len(decision.content) + len(message.text) + arguments


def _tool(spec: ToolSpec) -> str:
    # Not `asdict`, which would copy every schema, however deep.
    return json.dumps(spec, sort_keys=True, default=_members)


def _members(value: ToolSpec | ToolAnnotations) -> dict[str, object]:
    return {each.name: getattr(value, each.name) for each in fields(value)}


def _said(message: Message) -> str:
    return json.dumps(
        [
            message.level.value,
            [
                ["opaque", part.kind] if isinstance(part, Opaque) else ["text", part.text]
                for part in message.parts
            ],
            [[call.id, call.name, call.arguments] for call in message.tool_calls],
            message.answers,
            message.is_error,
        ]
    )
