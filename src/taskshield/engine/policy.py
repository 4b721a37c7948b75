"""Which action follows from findings, risk tiers and the policy. Pure."""

from dataclasses import replace

from taskshield.core.decisions import Action, CallVerdict, Case, Finding, weakest
from taskshield.core.levels import Level
from taskshield.core.messages import ToolCall
from taskshield.core.policy import Response
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
    if finding.call_id is not None:
        return _apply_to_call(finding, case.message.call(finding.call_id), case)
    if finding.aligned:
        return finding
    if case.message.level is Level.TOOL:
        return replace(finding, action=case.policy.output)
    return _apply_to_plan(finding, case)


def call_verdict(call: ToolCall, findings: tuple[Finding, ...], case: Case) -> CallVerdict:
    """The action on one call. A call without a finding falls under the outage rules."""
    tier = case.tiers[call.name]
    own = [finding for finding in findings if finding.call_id == call.id]
    actions = [finding.action for finding in own] or [_action_on_outage(call, tier, case)]
    return CallVerdict(call=call, tier=tier, action=strictest(actions), authorisation=weakest(own))


def _action_on_outage(call: ToolCall, tier: Tier, case: Case) -> Action:
    if call.fingerprint() in case.approved:
        return "allow"
    if case.outage is not None and case.outage.kind == "oversized":
        return "block"  # its author chose the size; that must not be a way to pass unchecked
    return case.policy.outage[tier]


def _apply_to_call(finding: Finding, call: ToolCall, case: Case) -> Finding:
    response: Action | None = _response_to(finding, call, case)
    if response is None:
        return finding
    if response == "revise" and (_rounds_used_up(case) or repeats_refused(call, case)):
        response = "block"
    return _with_response(finding, call.fingerprint(), response, case)


def _response_to(finding: Finding, call: ToolCall, case: Case) -> Response | None:
    """What policy says of the pair of authorisation and risk; None lets the call pass."""
    policy, tier = case.policy, case.tiers[call.name]
    by_pair = policy.authorisation.get(finding.authorisation, {}).get(tier)
    if finding.aligned:
        return by_pair
    return policy.tools.get(call.name) or by_pair or _by_tier(tier, case)


def _by_tier(tier: Tier, case: Case) -> Response:
    """The response to a misaligned call of a tier; no task is no reason to try again."""
    by_tier = case.policy.misaligned[tier]
    if len(case.tasks) or not tier.side_effects:
        return by_tier
    if case.policy.unknown_task is not None:
        return case.policy.unknown_task
    return by_tier if by_tier in ("observe", "escalate") else "block"


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
