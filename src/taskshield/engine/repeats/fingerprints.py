"""Which calls and plans a decision blocked, and which approvals it used, as fingerprints.

A fingerprint is equal for the same call or plan at another time, so what was refused or approved
once is recognised when the agent tries it again. A refused call is recognised by its effect, too.
"""

from taskshield.core.decisions import LET_THROUGH, Case, Decision
from taskshield.core.instructions import Instruction
from taskshield.core.messages import ToolCall, digest
from taskshield.engine.repeats.effects import Effects, effect_of

_EFFECTS_KEPT = 100
"""Effects that a session remembers in one turn of the user."""


def instruction_fingerprint(instruction: Instruction) -> str:
    """Identifies a plan in the assistant's text, as a call's fingerprint identifies the call."""
    return digest("text", " ".join(instruction.text.split()).casefold())


def repeats_refused(call: ToolCall, case: Case) -> bool:
    """Whether the call, or one of the same effect, was refused since the user last spoke."""
    if call.fingerprint() in case.refused:
        return True
    tier = case.tiers[call.name]
    return tier.side_effects and Effects(case.refused).include(call, tier)


def blocked_steps(decision: Decision) -> frozenset[str]:
    """Calls and plans that the decision did not allow."""
    calls = (verdict.call.fingerprint() for verdict in decision.calls if not verdict.allowed)
    plans = (
        instruction_fingerprint(finding.instruction)
        for finding in decision.findings
        if finding.call_id is None and finding.action not in LET_THROUGH
    )
    return frozenset((*calls, *plans))


def refused_steps(decision: Decision, user_text: str) -> frozenset[str]:
    """Calls, their effects, and plans blocked because they are misaligned.

    An outage says nothing about that.
    """
    if decision.check == "failed":
        return frozenset()
    room = _EFFECTS_KEPT - len(Effects(decision.case.refused))
    effects = (
        effect_of(verdict.call, verdict.tier, user_text)
        for verdict in decision.calls[: max(0, room)]
        if not verdict.allowed and verdict.tier.side_effects
    )
    return blocked_steps(decision).union(effects)


def used_approvals(decision: Decision) -> frozenset[str]:
    """Calls that passed, and all plans. An approval counts once, so theirs are used up."""
    calls = (verdict.call.fingerprint() for verdict in decision.calls if verdict.allowed)
    plans = (
        instruction_fingerprint(finding.instruction)
        for finding in decision.findings
        if finding.call_id is None
    )
    return frozenset((*calls, *plans))
