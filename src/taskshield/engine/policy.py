"""What becomes of a message: a pure function of findings, risk tiers and settings."""

from dataclasses import replace

from taskshield.core.decisions import Action, CallVerdict, Case, Finding
from taskshield.core.levels import Level
from taskshield.core.messages import ToolCall
from taskshield.core.policy import Response
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
    return _applied_to_call(finding, case)


def call_verdict(call: ToolCall, findings: tuple[Finding, ...], case: Case) -> CallVerdict:
    """What becomes of one call. One that was not judged falls under the outage rules."""
    tier = case.tiers[call.name]
    own = [finding.action for finding in findings if finding.call_id == call.id]
    if not own and case.check != "skipped":
        approved = call.fingerprint() in case.approved
        own.append("allow" if approved else case.policy.outage[tier])
    return CallVerdict(call=call, tier=tier, action=strictest(own))


def _applied_to_call(finding: Finding, case: Case) -> Finding:
    call = next(call for call in case.message.tool_calls if call.id == finding.call_id)
    response = case.policy.tools.get(call.name, case.policy.misaligned[case.tiers[call.name]])
    return _responded(finding, call.fingerprint(), response, case)


def _applied_to_plan(finding: Finding, case: Case) -> Finding:
    fingerprint = instruction_fingerprint(finding.instruction)
    responded = _responded(finding, fingerprint, case.policy.text, case)
    if responded.action == "block" and case.policy.text == "revise":
        # Words alone do nothing: once the rounds are spent they pass, marked. Their calls do not.
        return replace(responded, action="observe")
    return responded


def _responded(finding: Finding, fingerprint: str, response: Response, case: Case) -> Finding:
    if fingerprint in case.approved:
        return replace(finding, action="allow", approved=True)
    spent = case.rounds_used >= case.policy.rounds or fingerprint in case.refused
    if response == "revise" and spent:
        return replace(finding, action="block")
    return replace(finding, action=response)
