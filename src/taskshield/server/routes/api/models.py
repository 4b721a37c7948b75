"""The JSON of the native API, as models that its OpenAPI document is made from."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from taskshield.adapters.conversations.native import WireMessage, WireTool
from taskshield.core.decisions import Action, Check, Decision, Finding, Outage
from taskshield.core.store import Approval, ApprovalStatus, AuditRecord, Page
from taskshield.core.tools import Tier
from taskshield.core.usage import Usage

SessionId = Annotated[str, Field(pattern=r"^[A-Za-z0-9._:~-]{1,128}$")]
"""An id that can stand in a path."""


class Asked(BaseModel):
    """What a client sends."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)


class Answer(BaseModel):
    """What a client is told."""

    model_config = ConfigDict(frozen=True)


class NewSession(Asked):
    """A session to begin."""

    id: SessionId | None = None
    """Your own name for it; a random one where not given."""
    tools: list[WireTool] = []
    """The tools that the agent has."""


class NewMessage(WireMessage):
    """A message, and in the document also what its parts have to do with each other."""

    model_config = ConfigDict(
        json_schema_extra={
            "allOf": [
                {
                    "not": {
                        "properties": {"text": {"type": "string"}, "parts": {"type": "array"}},
                        "required": ["text", "parts"],
                    }
                },
                {
                    "anyOf": [
                        {"properties": {"level": {"const": "assistant"}}},
                        {"properties": {"tool_calls": {"maxItems": 0}}},
                    ]
                },
                {
                    "anyOf": [
                        {"properties": {"level": {"const": "tool"}}},
                        {"properties": {"answers": {"type": "null"}, "is_error": {"const": False}}},
                    ]
                },
            ]
        }
    )


class NewMessages(Asked):
    """The next messages of a session."""

    messages: Annotated[list[NewMessage], Field(min_length=1)]
    tools: list[WireTool] = []
    """Tools that the session does not know yet."""


class Verdict(Asked):
    """A person's word on an approval."""

    note: Annotated[str, Field(max_length=2_000)] = ""


class CallOut(Answer):
    """What becomes of one tool call."""

    id: str
    tool: str
    tier: Tier
    action: Action
    allowed: bool


class DecisionOut(Answer):
    """The answer to one message."""

    id: str
    number: int
    """Of the message in its session."""
    level: str
    action: Action
    allowed: bool
    """Whether the message goes on, and all its calls may run."""
    check: Check
    """Whether a judge looked at it."""
    outage: Outage | None
    unreadable: list[str]
    """Kinds of parts that no judge could read."""
    findings: list[Finding]
    """Every instruction found, aligned ones too."""
    calls: list[CallOut]
    """One for each tool call."""
    feedback: str | None
    """For the agent."""
    content: str
    """What to give the agent: the text, the annotated output, or the feedback."""
    round: int | None
    """Which feedback round this is, where it is one."""
    judge: str
    prompt: str
    """Version and hash of the prompt, for judges that have one."""
    cached: bool
    usage: Usage
    elapsed_ms: float
    approval: str | None
    """Id of the approval that was asked for."""

    @classmethod
    def of(cls, decision: Decision, approval: Approval | None = None) -> "DecisionOut":
        """From a decision."""
        case = decision.case
        return cls(
            id=decision.id,
            number=case.index,
            level=case.message.level.value,
            action=decision.action,
            allowed=decision.allowed,
            check=decision.check,
            outage=decision.outage,
            unreadable=list(decision.unreadable),
            findings=list(decision.findings),
            calls=[
                CallOut(
                    id=verdict.call.id,
                    tool=verdict.call.name,
                    tier=verdict.tier,
                    action=verdict.action,
                    allowed=verdict.allowed,
                )
                for verdict in decision.calls
            ],
            feedback=decision.feedback,
            content=decision.content,
            round=decision.round,
            judge=case.trace.judge,
            prompt=case.trace.prompt,
            cached=case.trace.cached,
            usage=case.trace.usage,
            elapsed_ms=decision.elapsed_ms,
            approval=None if approval is None else approval.id,
        )


class CheckedOut(Answer):
    """What became of the messages, one decision for each."""

    session: str
    decisions: list[DecisionOut]


class RecordOut(Answer):
    """A decision as it was written down."""

    id: str
    session: str
    number: int
    at: datetime
    surface: str
    agent: str | None
    """As the key is called or the client names it; null where neither says."""
    level: str
    action: Action
    check: Check
    tier: Tier | None
    judge: str
    elapsed_ms: float
    summary: str
    """One line for people; empty where texts are not stored."""
    digest: str
    """Hash of the case that the decision was made from."""
    replays: bool
    """Whether the case was stored, so that the decision can be made again."""

    @classmethod
    def of(cls, record: AuditRecord) -> "RecordOut":
        """From a record of the store."""
        return cls(
            id=record.id,
            session=record.session,
            number=record.number,
            at=record.at,
            surface=record.surface,
            agent=record.agent,
            level=record.level,
            action=record.action,
            check=record.check,
            tier=record.tier,
            judge=record.judge,
            elapsed_ms=record.elapsed_ms,
            summary=record.summary,
            digest=record.digest,
            replays=record.case is not None,
        )


class Records(Answer):
    """Some of all decisions, newest first."""

    items: list[RecordOut]
    next: str | None
    """Give this back as `after` to get those that follow; null at the end."""

    @classmethod
    def of(cls, page: Page[AuditRecord]) -> "Records":
        """From a page of the store."""
        return cls(items=[RecordOut.of(record) for record in page.items], next=page.next)


class Replay(Answer):
    """A decision that was made again from its stored case."""

    same: bool
    """Whether it is what was decided then."""
    decision: DecisionOut


class ApprovalOut(Answer):
    """A person is asked whether something that was held back may go on."""

    id: str
    session: str
    decision: str
    summary: str
    created_at: datetime
    deadline: datetime
    """From then on it is expired, which is a no."""
    status: ApprovalStatus
    decided_at: datetime | None
    decided_by: str | None
    """Name of the key with which it was decided."""
    note: str

    @classmethod
    def of(cls, approval: Approval) -> "ApprovalOut":
        """From an approval of the store."""
        return cls.model_validate(approval, from_attributes=True)


class ApprovalList(Answer):
    """Some of all approvals, newest first."""

    items: list[ApprovalOut]
    next: str | None
    """Give this back as `after` to get those that follow; null at the end."""

    @classmethod
    def of(cls, page: Page[Approval]) -> "ApprovalList":
        """From a page of the store."""
        return cls(items=[ApprovalOut.of(item) for item in page.items], next=page.next)


class SelfTestOut(Answer):
    """How the self-test went."""

    passed: bool
    failures: list[str]


class SettingsOut(Answer):
    """The settings in force; secrets are masked."""

    version: str
    """Of taskshield."""
    settings: Mapping[str, Any]


class ErrorDetail(Answer):
    """Why a request was not carried out."""

    code: str
    """One word for programs."""
    message: str
    """One sentence for people."""


class ErrorBody(Answer):
    """The body of every error."""

    error: ErrorDetail
