"""Steps of a record, made from messages and decisions."""

from taskshield.core.decisions import Decision
from taskshield.core.messages import Message
from taskshield.core.quotations import shorten
from taskshield_lab.bench.records import Call, Finding, Owner, RecordedStep

_LONGEST = 4_000
"""Longest text in a record. Enough to see what happened; records stay small."""


def checked_step(decision: Decision, *, owner: Owner | None = None) -> RecordedStep:
    """The step of a message that a shield checked."""
    case = decision.case
    return RecordedStep(
        level=case.message.level,
        text=_cut(case.message.text),
        calls=tuple(
            Call(
                id=verdict.call.id,
                name=verdict.call.name,
                arguments=_cut(verdict.call.arguments),
                tier=verdict.tier,
                action=verdict.action,
                executed=verdict.allowed,
                owner=owner,
            )
            for verdict in decision.calls
        ),
        answers=case.message.answers,
        check=decision.check,
        outage=None if case.outage is None else f"{case.outage.kind}: {_cut(case.outage.detail)}",
        action=decision.action,
        findings=tuple(
            Finding(
                text=_cut(finding.instruction.text),
                call_id=finding.call_id,
                aligned=finding.aligned,
                total=finding.total,
                epsilon=finding.epsilon,
                explained=0.0 if finding.taint is None else finding.taint.value,
                reason=_cut(finding.reason),
            )
            for finding in decision.findings
            if finding.call_id is not None or not finding.aligned
        ),
        feedback=None if decision.feedback is None else _cut(decision.feedback),
        ms=decision.elapsed_ms,
        cached=case.trace.cached,
        usage=case.trace.usage,
    )


def unchecked_step(message: Message, *, owner: Owner | None = None) -> RecordedStep:
    """The step of a message that was not checked."""
    return RecordedStep(
        level=message.level,
        text=_cut(message.text),
        answers=message.answers,
        calls=tuple(
            Call(
                id=call.id,
                name=call.name,
                arguments=_cut(call.arguments),
                executed=True,
                owner=owner,
            )
            for call in message.tool_calls
        ),
    )


def _cut(text: str) -> str:
    return shorten(text, _LONGEST)
