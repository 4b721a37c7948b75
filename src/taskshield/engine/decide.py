"""From a case to its decision. Pure: the same case always gives the same decision."""

from typing import assert_never

from taskshield.core.decisions import LET_THROUGH, Action, CallVerdict, Case, Decision, Finding
from taskshield.core.levels import Level
from taskshield.engine import feedback
from taskshield.engine.findings import judge_instruction
from taskshield.engine.policy import apply_policy, call_verdict, strictest


def decide(case: Case) -> Decision:
    """The decision on a message."""
    findings = tuple(apply_policy(judge_instruction(item, case), case) for item in case.assessed)
    match case.message.level:
        case Level.SYSTEM | Level.USER:
            return _passed(case, (), "allow", case.message.text)
        case Level.ASSISTANT:
            return _decide_step(case, findings)
        case Level.TOOL:
            return _decide_output(case, findings)
        case _ as unreachable:
            assert_never(unreachable)


def _decide_step(case: Case, findings: tuple[Finding, ...]) -> Decision:
    calls = tuple(call_verdict(call, findings, case) for call in case.message.tool_calls)
    actions = [finding.action for finding in findings] + [verdict.action for verdict in calls]
    action = strictest(actions)
    note = _note_on_step(case, findings, calls)
    revised = "revise" in actions
    return Decision(
        action=action,
        findings=findings,
        calls=calls,
        feedback=note,
        content=case.message.text if note is None else note,
        round=case.rounds_used + 1 if revised else None,
        case=case,
    )


def _note_on_step(
    case: Case, findings: tuple[Finding, ...], calls: tuple[CallVerdict, ...]
) -> str | None:
    if case.check == "failed":
        refused = not all(verdict.allowed for verdict in calls)
        return feedback.outage_notice(case) if refused else None
    blocked = tuple(item for item in findings if item.action not in LET_THROUGH)
    if not blocked:
        return None
    return feedback.compose(blocked, case) + feedback.outlook(
        {item.action for item in blocked}, case
    )


def _decide_output(case: Case, findings: tuple[Finding, ...]) -> Decision:
    text = case.message.text
    if case.check == "failed":
        return _decide_unchecked_output(case)
    misaligned = tuple(item for item in findings if not item.aligned)
    if not misaligned:
        return _passed(case, findings, "allow", text)
    note = feedback.compose(misaligned, case)
    match case.policy.output:
        case "observe":
            return _passed(case, findings, "observe", text, note)
        case "annotate":
            return _passed(case, findings, "annotate", feedback.annotated(text, note), note)
        case "redact":
            kept = feedback.redacted(text, misaligned)
            return _passed(case, findings, "redact", feedback.annotated(kept, note), note)
        case _ as unreachable:
            assert_never(unreachable)


def _decide_unchecked_output(case: Case) -> Decision:
    text = case.message.text
    response = case.policy.output_outage
    if response is None:
        response = "withhold" if case.policy.output == "redact" else "annotate"
    match response:
        case "allow":
            return _passed(case, (), "allow", text)
        case "annotate":
            return _passed(
                case, (), "annotate", feedback.annotated(text, feedback.unchecked_note(case))
            )
        case "withhold":
            return _passed(case, (), "withhold", feedback.withheld(case))
        case _ as unreachable:
            assert_never(unreachable)


def _passed(
    case: Case,
    findings: tuple[Finding, ...],
    action: Action,
    content: str,
    note: str | None = None,
) -> Decision:
    return Decision(
        action=action,
        findings=findings,
        calls=(),
        feedback=note,
        content=content,
        round=None,
        case=case,
    )
