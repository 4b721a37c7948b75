"""Which action follows from findings, risk tiers and the policy. Pure."""

from dataclasses import replace

from taskshield.core.decisions import Action, CallVerdict, Case, Finding
from taskshield.core.levels import Level
from taskshield.core.messages import ToolCall
from taskshield.core.tools import Tier
from taskshield.engine.repeats.fingerprints import instruction_fingerprint, repeats_refused

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


def apply_policy(finding: Finding, case: Case) -> Finding:
    """The finding with the action that policy takes on it."""
    if finding.aligned:
        return finding
    if case.message.level is Level.TOOL:
        return replace(finding, action=case.policy.output)
    if finding.call_id is None:
        return _apply_to_plan(finding, case)
    return _apply_to_call(finding, case.message.call(finding.call_id), case)


def call_verdict(call: ToolCall, findings: tuple[Finding, ...], case: Case) -> CallVerdict:
    """The action on one call. A call without a finding falls under the outage rules."""
    tier = case.tiers[call.name]
    own = [finding.action for finding in findings if finding.call_id == call.id]
    if not own:
        own.append(_action_on_outage(call, tier, case))
    return CallVerdict(call=call, tier=tier, action=strictest(own))


def _action_on_outage(call: ToolCall, tier: Tier, case: Case) -> Action:
    if call.fingerprint() in case.approved:
        return "allow"
    if case.outage is not None and case.outage.kind == "oversized":
        return "block"  # its author chose the size; that must not be a way to pass unchecked
    return case.policy.outage[tier]


def _apply_to_call(finding: Finding, call: ToolCall, case: Case) -> Finding:
    by_tier = case.policy.misaligned[case.tiers[call.name]]
    response: Action = case.policy.tools.get(call.name, by_tier)
    fingerprint = call.fingerprint()
    if response == "revise" and (_rounds_used_up(case) or repeats_refused(call, case)):
        response = "block"
    return _with_response(finding, fingerprint, response, case)


def _apply_to_plan(finding: Finding, case: Case) -> Finding:
    response: Action = case.policy.text
    if response == "revise" and _rounds_used_up(case):
        response = "observe"  # a plan alone does nothing, so it passes, marked; its calls do not
    return _with_response(finding, instruction_fingerprint(finding.instruction), response, case)


def _rounds_used_up(case: Case) -> bool:
    return case.rounds_used >= case.policy.rounds


def _with_response(finding: Finding, fingerprint: str, response: Action, case: Case) -> Finding:
    if fingerprint in case.approved:
        return replace(finding, action="allow", approved=True)
    return replace(finding, action=response)
