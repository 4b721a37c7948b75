"""The JSON of the native API: models from which its OpenAPI document is made.

Over 300 lines, because the document is read as a whole.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, FailFast, Field

from taskshield.adapters.conversations.native import WireMessage, WireTool
from taskshield.core.decisions import Action, Check, Decision, Finding, Outage
from taskshield.core.policy import Authorisation
from taskshield.core.store import Approval, ApprovalStatus, AuditRecord, Page
from taskshield.core.tools import Tier
from taskshield.core.usage import Usage

SessionId = Annotated[str, Field(pattern=r"^[A-Za-z0-9._:~-]{1,128}$")]
"""An id that can stand in a path."""


class RequestModel(BaseModel):
    """JSON that a client sends."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)


class ResponseModel(BaseModel):
    """JSON that a client gets."""

    model_config = ConfigDict(frozen=True)


class NewSession(RequestModel):
    """A new session."""

    id: SessionId | None = None
    """Your own id; a random one where not given."""
    tools: Annotated[list[WireTool], FailFast()] = []
    """The tools that the agent has."""


class NewMessage(WireMessage):
    """A message. The OpenAPI document also says which fields exclude each other."""

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


class NewMessages(RequestModel):
    """The next messages of a session."""

    messages: Annotated[list[NewMessage], Field(min_length=1), FailFast()]
    tools: Annotated[list[WireTool], FailFast()] = []
    """Tools that the session does not have yet."""


class Verdict(RequestModel):
    """A person's answer to an approval."""

    note: Annotated[str, Field(max_length=2_000)] = ""


class CallOut(ResponseModel):
    """The action on one tool call."""

    id: str
    tool: str
    tier: Tier
    """The risk."""
    authorisation: Authorisation | None
    """How far the user's words carry it; null where no judge could say."""
    action: Action
    allowed: bool


class DecisionOut(ResponseModel):
    """The decision on one message."""

    id: str
    number: int
    """Number of the message in its session."""
    level: str
    action: Action
    authorisation: Authorisation | None
    """The weakest of the findings'; null where nothing was judged."""
    allowed: bool
    """Whether the message may pass and all its calls may run."""
    check: Check
    """Whether a judge checked the message."""
    outage: Outage | None
    unreadable: list[str]
    """Kinds of parts that a judge cannot read."""
    findings: list[Finding]
    """Every instruction that was found, aligned ones as well."""
    calls: list[CallOut]
    """One for each tool call."""
    feedback: str | None
    """Feedback for the agent."""
    content: str
    """The text for the agent: the message, the annotated output, or the feedback."""
    round: int | None
    """Number of the feedback round, where it is one."""
    judge: str
    prompt: str
    """Version and hash of the prompt, for judges that have one."""
    cached: bool
    usage: Usage
    elapsed_ms: float
    approval: str | None
    """Id of the approval, where a person must decide."""

    @classmethod
    def of(cls, decision: Decision, approval: Approval | None = None) -> "DecisionOut":
        """From a decision."""
        case = decision.case
        return cls(
            id=decision.id,
            number=case.index,
            level=case.message.level.value,
            action=decision.action,
            authorisation=decision.authorisation,
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
                    authorisation=verdict.authorisation,
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


class CheckedOut(ResponseModel):
    """The decisions on messages, one for each."""

    session: str
    decisions: list[DecisionOut]


class RecordOut(ResponseModel):
    """A stored decision."""

    id: str
    session: str
    number: int
    at: datetime
    surface: str
    agent: str | None
    """The agent that the client names, or else the name of the key; null without both."""
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
    """Whether the case was stored, so that the decision can be replayed."""

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


class Records(ResponseModel):
    """A page of decisions, newest first."""

    items: list[RecordOut]
    next: str | None
    """Send this as `after` to get the next page; null at the end."""

    @classmethod
    def of(cls, page: Page[AuditRecord]) -> "Records":
        """From a page of the store."""
        return cls(items=[RecordOut.of(record) for record in page.items], next=page.next)


class Replay(ResponseModel):
    """A decision replayed from its stored case."""

    same: bool
    """Whether the action is the stored one."""
    decision: DecisionOut


class ApprovalOut(ResponseModel):
    """A request to a person to approve or deny blocked calls."""

    id: str
    session: str
    decision: str
    summary: str
    created_at: datetime
    deadline: datetime
    """When it expires. An expired approval counts as denied."""
    status: ApprovalStatus
    decided_at: datetime | None
    decided_by: str | None
    """Name of the API key that decided it."""
    note: str

    @classmethod
    def of(cls, approval: Approval) -> "ApprovalOut":
        """From an approval of the store."""
        return cls.model_validate(approval, from_attributes=True)


class ApprovalList(ResponseModel):
    """A page of approvals, newest first."""

    items: list[ApprovalOut]
    next: str | None
    """Send this as `after` to get the next page; null at the end."""

    @classmethod
    def of(cls, page: Page[Approval]) -> "ApprovalList":
        """From a page of the store."""
        return cls(items=[ApprovalOut.of(item) for item in page.items], next=page.next)


class SelfTestOut(ResponseModel):
    """The result of the self-test."""

    passed: bool
    failures: list[str]


class SettingsOut(ResponseModel):
    """The settings in force; secrets are masked."""

    version: str
    """Version of taskshield."""
    settings: Mapping[str, Any]


class ErrorDetail(ResponseModel):
    """Why a request failed."""

    code: str
    """A fixed word for programs."""
    message: str
    """One or two sentences for people."""


class ErrorBody(ResponseModel):
    """The body of every error."""

    error: ErrorDetail
