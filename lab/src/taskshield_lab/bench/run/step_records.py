"""From messages and decisions to the steps of a record."""

from taskshield.core.decisions import Decision
from taskshield.core.messages import Message
from taskshield.core.quotations import shorten
from taskshield_lab.bench.records import Call, Finding, Owner, RecordedStep

_LONGEST = 4_000
"""Characters that are kept of a text: enough to see what happened, and records stay small."""


def judged(decision: Decision, *, owner: Owner | None = None) -> RecordedStep:
    """The step of a message that was put to a shield."""
    case = decision.case
    return RecordedStep(
        level=case.message.level,
        text=_kept(case.message.text),
        calls=tuple(
            Call(
                id=verdict.call.id,
                name=verdict.call.name,
                arguments=_kept(verdict.call.arguments),
                tier=verdict.tier,
                action=verdict.action,
                executed=verdict.allowed,
                owner=owner,
            )
            for verdict in decision.calls
        ),
        answers=case.message.answers,
        check=decision.check,
        outage=None if case.outage is None else f"{case.outage.kind}: {_kept(case.outage.detail)}",
        action=decision.action,
        findings=tuple(
            Finding(
                text=_kept(finding.instruction.text),
                call_id=finding.call_id,
                aligned=finding.aligned,
                total=finding.total,
                epsilon=finding.epsilon,
                explained=0.0 if finding.taint is None else finding.taint.value,
                reason=_kept(finding.reason),
            )
            for finding in decision.findings
            if finding.call_id is not None or not finding.aligned
        ),
        feedback=None if decision.feedback is None else _kept(decision.feedback),
        ms=decision.elapsed_ms,
        cached=case.trace.cached,
        usage=case.trace.usage,
    )


def unguarded(message: Message, *, owner: Owner | None = None) -> RecordedStep:
    """The step of a message that nobody judged."""
    return RecordedStep(
        level=message.level,
        text=_kept(message.text),
        answers=message.answers,
        calls=tuple(
            Call(
                id=call.id,
                name=call.name,
                arguments=_kept(call.arguments),
                executed=True,
                owner=owner,
            )
            for call in message.tool_calls
        ),
    )


def _kept(text: str) -> str:
    return shorten(text, _LONGEST)
