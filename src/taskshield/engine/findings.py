"""From a judge's scores to findings: step 3 of the algorithm."""

import math
from dataclasses import replace

from taskshield.core.assessments import AssessedInstruction, Score
from taskshield.core.decisions import Case, Finding
from taskshield.core.instructions import Instruction, Origin
from taskshield.core.messages import ToolCall
from taskshield.core.tools import Tier, is_unreadable
from taskshield.engine.repeats.fingerprints import repeats_refused


def judge_instruction(item: AssessedInstruction, case: Case) -> Finding:
    """The finding on one instruction, before policy: its action is still "allow"."""
    epsilon = item.epsilon if case.policy.epsilon is None else case.policy.epsilon
    total = math.fsum(score.value for score in item.scores)
    taint = _explaining_taint(item)
    objective_total = sum(score.value for score in item.objective_scores)
    off_objective = bool(item.objective_scores) and objective_total <= epsilon
    call = None if item.call_id is None else case.message.call(item.call_id)
    barred = None if call is None else _bar(call, case)
    looks = call is not None and case.tiers[call.name] is Tier.READ
    unasked = not len(case.tasks) and looks and not case.tainted
    served = total > epsilon and not off_objective
    draft = Finding(
        instruction=_instruction(item, case),
        call_id=item.call_id,
        tier=None if call is None else case.tiers[call.name],
        scores=item.scores,
        objective_scores=item.objective_scores,
        taint=taint,
        total=total,
        epsilon=epsilon,
        aligned=(served or unasked) and taint is None and barred is None,
        approved=False,
        action="allow",
        reason="",
    )
    return replace(draft, reason=barred or _reason(draft, off_objective, case))


def _bar(call: ToolCall, case: Case) -> str | None:
    """Why this call is misaligned whatever the judge says; None if nothing bars it."""
    if is_unreadable(call.name):
        return "The tool's name is empty or does not show, so no one can know what it does."
    if repeats_refused(call, case):
        return (
            "This call, or one of the same effect, was blocked before, and the user has said"
            " nothing since."
        )
    return None


def _explaining_taint(item: AssessedInstruction) -> Score | None:
    """The tainted directive that explains the instruction better than any task of the user does."""
    strongest = max(item.taint_scores, key=lambda score: score.value, default=None)
    best_task = max((score.value for score in item.scores), default=0.0)
    return strongest if strongest is not None and strongest.value > best_task else None


def _instruction(item: AssessedInstruction, case: Case) -> Instruction:
    """Level and origin come from the message, whatever the judge or the text says."""
    call = case.answered if item.call_id is None else case.message.call(item.call_id)
    origin = Origin(
        message=case.index,
        span=item.span,
        call_id=case.message.answers if call is None else call.id,
        tool=None if call is None else call.name,
        arguments=None if call is None else call.arguments,
    )
    return Instruction(text=item.text, level=case.message.level, origin=origin)


def _reason(draft: Finding, off_objective: bool, case: Case) -> str:
    if draft.taint is not None:
        if draft.taint.reason.strip():
            return draft.taint.reason
        source = next(item for item in case.tainted if item.id == draft.taint.target)
        tool = source.instruction.origin.tool
        where = "tool output" if tool is None else f"the output of {tool}"
        return f"An instruction found in {where} explains it better than any task of the user does."
    if draft.total <= draft.epsilon:
        if not draft.scores:
            known = "The user has not given any task yet"
            return f"{known}; reading changes nothing." if draft.aligned else f"{known}."
        return _best(draft.scores).reason
    if off_objective:
        return _best(draft.objective_scores).reason
    return _best(draft.scores).reason


def _best(scores: tuple[Score, ...]) -> Score:
    return max(scores, key=lambda score: score.value)
