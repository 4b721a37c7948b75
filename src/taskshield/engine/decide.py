"""From a case to its decision. Pure: the same case gives the same decision, now and in a replay."""

from typing import assert_never

from taskshield.core.decisions import LET_THROUGH, Action, CallVerdict, Case, Decision, Finding
from taskshield.core.levels import Level
from taskshield.engine import feedback
from taskshield.engine.findings import finding
from taskshield.engine.policy import applied, call_verdict, strictest


def decide(case: Case) -> Decision:
    """The decision on a message."""
    findings = tuple(applied(finding(item, case), case) for item in case.assessed)
    match case.message.level:
        case Level.SYSTEM | Level.USER:
            return _let_through(case, (), "allow", case.message.text)
        case Level.ASSISTANT:
            return _on_step(case, findings)
        case Level.TOOL:
            return _on_output(case, findings)
        case _ as unreachable:
            assert_never(unreachable)


def _on_step(case: Case, findings: tuple[Finding, ...]) -> Decision:
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
    held = tuple(item for item in findings if item.action not in LET_THROUGH)
    if not held:
        return None
    return feedback.compose(held, case) + feedback.outlook({item.action for item in held}, case)


def _on_output(case: Case, findings: tuple[Finding, ...]) -> Decision:
    text = case.message.text
    if case.check == "failed":
        return _on_unchecked_output(case)
    misaligned = tuple(item for item in findings if not item.aligned)
    if not misaligned:
        return _let_through(case, findings, "allow", text)
    note = feedback.compose(misaligned, case)
    match case.policy.output:
        case "observe":
            return _let_through(case, findings, "observe", text, note)
        case "annotate":
            return _let_through(case, findings, "annotate", feedback.annotated(text, note), note)
        case "redact":
            rest = feedback.redacted(text, misaligned)
            return _let_through(case, findings, "redact", feedback.annotated(rest, note), note)
        case _ as unreachable:
            assert_never(unreachable)


def _on_unchecked_output(case: Case) -> Decision:
    text = case.message.text
    response = case.policy.output_outage
    if response is None:
        response = "withhold" if case.policy.output == "redact" else "annotate"
    match response:
        case "allow":
            return _let_through(case, (), "allow", text)
        case "annotate":
            return _let_through(
                case, (), "annotate", feedback.annotated(text, feedback.unchecked_note(case))
            )
        case "withhold":
            return _let_through(case, (), "withhold", feedback.withheld(case))
        case _ as unreachable:
            assert_never(unreachable)


def _let_through(
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
