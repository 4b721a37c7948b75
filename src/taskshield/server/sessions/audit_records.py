"""Audit records and approvals, made from decisions."""

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta

from taskshield.adapters.stored.cases import CASE
from taskshield.core.decisions import Case, Decision
from taskshield.core.messages import digest
from taskshield.core.safe_text import one_line
from taskshield.core.store import Approval, AuditRecord
from taskshield.server.http.errors import RequestError
from taskshield.server.sessions import serialization
from taskshield.server.sessions.snapshots import RequestSource, SessionKey, size_of
from taskshield.stores.secrets.redaction import redacted, redacted_case, redacted_state

_SUMMARY_LENGTH = 300
_AGENT_LENGTH = 128
_SUMMARY_SOURCE = 4_000
"""Characters that a summary is made from. Secrets are redacted before it is cut to its length."""
_PART = 400
"""Characters of a task or a finding in a record, roughly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextRedaction:
    """Whether and how texts are stored."""

    texts: bool = True
    """Whether they are stored at all."""
    redact: bool = True
    """Whether secrets in them are redacted."""

    def state(self, text: str) -> str:
        """The JSON of a session as it may be stored; without texts it is not stored at all."""
        return redacted_state(text) if self.texts and self.redact else text

    def case(self, text: str) -> str | None:
        """The JSON of a case as it may be stored; its replay gives the same decision."""
        if not self.texts:
            return None
        return redacted_case(text) if self.redact else text

    def line(self, text: str) -> str:
        """The beginning of a text as one line, without terminal control characters."""
        if not self.texts:
            return ""
        beginning = text[:_SUMMARY_SOURCE]
        return one_line(redacted(beginning) if self.redact else beginning, _SUMMARY_LENGTH)


def audit_record(
    decision: Decision,
    key: SessionKey,
    source: RequestSource,
    at: datetime,
    redaction: TextRedaction,
    version: int,
) -> AuditRecord:
    """The audit record of one decision, its case in this format of stored documents."""
    case = decision.case
    text = CASE.write(case, version)
    return AuditRecord(
        id=decision.id,
        tenant=key.tenant,
        session=key.session,
        number=case.index,
        at=at,
        surface=source.surface,
        level=case.message.level.value,
        action=decision.action,
        check=decision.check,
        tier=decision.tier,
        judge=decision.judge,
        elapsed_ms=decision.elapsed_ms,
        summary=redaction.line(summary(decision)),
        case=redaction.case(text),
        digest=digest(text),
        tools=tuple(filter(None, map(redaction.line, affected_tools(decision)))),
        llm_calls=case.trace.usage.calls,
        llm_tokens=case.trace.usage.tokens,
        agent=None if source.agent is None else one_line(source.agent, _AGENT_LENGTH),
    )


def work_on(decision: Decision) -> int:
    """How much there is to write of a decision, roughly in characters."""
    case = decision.case
    parts = len(case.tasks) + len(case.tainted) + len(case.assessed)
    return size_of(decision) + _PART * (1 + parts)


def stored_case(record: AuditRecord) -> Case:
    """The case that an audit record was made from.

    Raises:
        RequestError: It was not stored.
        StoreError: The stored text cannot be read.
    """
    if record.case is None:
        raise RequestError(
            410, "gone", "The case was not stored: this server does not store texts."
        )
    return serialization.parse_stored(CASE.read, record.case)


def approval_of(
    decision: Decision,
    key: SessionKey,
    at: datetime,
    approval_time: timedelta,
    redaction: TextRedaction,
) -> Approval:
    """The approval for a decision that a person must make."""
    return Approval(
        id=uuid.uuid4().hex,
        tenant=key.tenant,
        session=key.session,
        decision=decision.id,
        summary=redaction.line(summary(decision)),
        created_at=at,
        deadline=at + approval_time,
    )


def needs_person(decision: Decision) -> bool:
    """Whether something in the message waits for approval."""
    actions = [verdict.action for verdict in decision.calls]
    actions += [finding.action for finding in decision.findings]
    return "escalate" in actions


def affected_tools(decision: Decision) -> tuple[str, ...]:
    """The tools that an action is about: those called, or the one whose output was judged."""
    answered = decision.case.answered
    if answered is not None:
        return (answered.name,)
    called = (each.call.name for each in decision.calls if each.action == decision.action)
    return tuple(dict.fromkeys(called))


def summary(decision: Decision) -> str:
    """What a decision is about and its reason, for people."""
    message = decision.case.message
    about = ", ".join(call.name for call in message.tool_calls)
    if not about and decision.case.answered is not None:
        about = f"output of {decision.case.answered.name}"
    reason = "; ".join(
        f"{finding.instruction.text}: {finding.reason}"
        for finding in decision.findings
        if not finding.aligned or finding in decision.stopped
    )
    if decision.outage is not None:
        reason = f"could not be checked: {decision.outage.kind}"
    parts = [message.level.value, about, reason or message.text]
    return " - ".join(part for part in parts if part)
