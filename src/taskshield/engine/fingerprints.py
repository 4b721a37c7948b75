"""Which calls and plans a decision blocked, and which approvals it used, as fingerprints.

A fingerprint is equal for the same call or plan at another time, so what was refused or approved
once is recognised when the agent tries it again.
"""

from taskshield.core.decisions import LET_THROUGH, Decision
from taskshield.core.instructions import Instruction
from taskshield.core.messages import digest


def instruction_fingerprint(instruction: Instruction) -> str:
    """Identifies a plan in the assistant's text, as a call's fingerprint identifies the call."""
    return digest("text", " ".join(instruction.text.split()).casefold())


def blocked_steps(decision: Decision) -> frozenset[str]:
    """Calls and plans that the decision did not allow."""
    calls = (verdict.call.fingerprint() for verdict in decision.calls if not verdict.allowed)
    plans = (
        instruction_fingerprint(finding.instruction)
        for finding in decision.findings
        if finding.call_id is None and finding.action not in LET_THROUGH
    )
    return frozenset((*calls, *plans))


def refused_steps(decision: Decision) -> frozenset[str]:
    """Calls and plans blocked because they are misaligned; an outage says nothing about that."""
    return frozenset() if decision.check == "failed" else blocked_steps(decision)


def used_approvals(decision: Decision) -> frozenset[str]:
    """Calls that passed, and all plans. An approval counts once, so theirs are used up."""
    calls = (verdict.call.fingerprint() for verdict in decision.calls if verdict.allowed)
    plans = (
        instruction_fingerprint(finding.instruction)
        for finding in decision.findings
        if finding.call_id is None
    )
    return frozenset((*calls, *plans))
