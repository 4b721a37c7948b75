"""What becomes of a message: a pure function of findings, risk tiers and settings."""

from dataclasses import replace

from taskshield.core.decisions import Action, CallVerdict, Case, Finding
from taskshield.core.levels import Level
from taskshield.core.messages import ToolCall
from taskshield.core.tools import Tier
from taskshield.engine.state import instruction_fingerprint

_SEVERITY: tuple[Action, ...] = (
    "allow",
    "observe",
    "annotate",
    "redact",
    "withhold",
    "revise",
    "escalate",
    "block",
)


def strictest(actions: list[Action]) -> Action:
    """The action of a whole message, given those of its parts."""
    return max(actions, key=_SEVERITY.index, default="allow")


def applied(finding: Finding, case: Case) -> Finding:
    """The finding with what policy does about it."""
    if finding.aligned:
        return finding
    if case.message.level is Level.TOOL:
        return replace(finding, action=case.policy.output)
    if finding.call_id is None:
        return _applied_to_plan(finding, case)
    return _applied_to_call(finding, case.message.call(finding.call_id), case)


def call_verdict(call: ToolCall, findings: tuple[Finding, ...], case: Case) -> CallVerdict:
    """What becomes of one call. One that was not judged falls under the outage rules."""
    tier = case.tiers[call.name]
    own = [finding.action for finding in findings if finding.call_id == call.id]
    if not own:
        own.append(_on_outage(call, tier, case))
    return CallVerdict(call=call, tier=tier, action=strictest(own))


def _on_outage(call: ToolCall, tier: Tier, case: Case) -> Action:
    if call.fingerprint() in case.approved:
        return "allow"
    if case.outage is not None and case.outage.kind == "oversized":
        return "block"  # whoever wrote the call chose its size; that must not be a way through
    return case.policy.outage[tier]


def _applied_to_call(finding: Finding, call: ToolCall, case: Case) -> Finding:
    by_tier = case.policy.misaligned[case.tiers[call.name]]
    response: Action = case.policy.tools.get(call.name, by_tier)
    fingerprint = call.fingerprint()
    if response == "revise" and (_rounds_spent(case) or fingerprint in case.refused):
        response = "block"
    return _responded(finding, fingerprint, response, case)


def _applied_to_plan(finding: Finding, case: Case) -> Finding:
    response: Action = case.policy.text
    if response == "revise" and _rounds_spent(case):
        response = "observe"  # words alone do nothing, so they pass, marked; their calls do not
    return _responded(finding, instruction_fingerprint(finding.instruction), response, case)


def _rounds_spent(case: Case) -> bool:
    return case.rounds_used >= case.policy.rounds


def _responded(finding: Finding, fingerprint: str, response: Action, case: Case) -> Finding:
    if fingerprint in case.approved:
        return replace(finding, action="allow", approved=True)
    return replace(finding, action=response)
