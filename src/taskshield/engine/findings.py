"""From a judge's scores to findings: step 3 of the algorithm."""

import json
import math
import re
from dataclasses import replace

from taskshield.core.assessments import AssessedInstruction, Score
from taskshield.core.decisions import Case, Finding
from taskshield.core.instructions import Instruction, Origin
from taskshield.core.levels import Level
from taskshield.core.messages import ToolCall
from taskshield.core.policy import Authorisation
from taskshield.core.tools import Tier, is_unreadable
from taskshield.engine import contradictions
from taskshield.engine.repeats.fingerprints import repeats_refused

_ASKED = 0.7
"""From this score for one task on the user asked for it, where the judge has no other level."""
_OUTSIDE = re.compile(
    r"://|\w@\w|\bwww\.|[\w-]\.[a-z]{2,24}[/?]|\b\d{1,3}(?:\.\d{1,3}){3}\b"
    r'|"[\w-]{0,40}(?:url|uri|host|domain|link|endpoint|webhook)[\w-]{0,40}":',
    re.IGNORECASE,
)
"""What an argument has that leads outside: with it, words of the user could leave."""


def judge_instruction(item: AssessedInstruction, case: Case) -> Finding:
    """The finding on one instruction, before policy: its action is still "allow"."""
    epsilon = item.epsilon if case.policy.epsilon is None else case.policy.epsilon
    total = math.fsum(score.value for score in item.scores)
    taint = _explaining_taint(item)
    objective_total = sum(score.value for score in item.objective_scores)
    off_objective = bool(item.objective_scores) and objective_total <= epsilon
    call = None if item.call_id is None else case.message.call(item.call_id)
    barred = None if call is None else _bar(call, case)
    served = total > epsilon and not off_objective and taint is None
    harmless = not (served or off_objective) and call is not None and _only_looks(call, case)
    draft = Finding(
        instruction=_instruction(item, case),
        call_id=item.call_id,
        tier=None if call is None else case.tiers[call.name],
        scores=item.scores,
        objective_scores=item.objective_scores,
        taint=taint,
        total=total,
        epsilon=epsilon,
        aligned=(served or harmless) and barred is None and not item.contradictions,
        approved=False,
        action="allow",
        reason="",
        authorisation=_authorisation(item, total, case, served=served),
        contradictions=item.contradictions,
    )
    if draft.contradictions:
        return replace(draft, reason=contradictions.sentences(draft, case)[0])
    return replace(draft, reason=barred or _reason(draft, off_objective, case))


def _authorisation(
    item: AssessedInstruction, total: float, case: Case, *, served: bool
) -> Authorisation:
    """How far the user's words carry it. No sum outweighs a contradiction.

    What stands in a tool's output is at best implied: its words are not the user's.
    """
    if item.contradictions:
        return "contradicted"
    if not served:
        return "unasked"
    if item.asked_from is None:
        asked = max(score.value for score in item.scores) >= _ASKED
    else:
        asked = total >= item.asked_from
    return "asked" if asked and case.message.level is Level.ASSISTANT else "implied"


def _only_looks(call: ToolCall, case: Case) -> bool:
    """Whether a call does no harm even unasked: it reads, and takes nothing outside.

    Not so once data has tried to direct the agent: then it may look for what the attacker wants.
    """
    if case.tiers[call.name] is not Tier.READ or case.tainted:
        return False
    arguments = call.parse_arguments()
    return not len(case.tasks) or (
        arguments is not None and _OUTSIDE.search(json.dumps(arguments, ensure_ascii=False)) is None
    )


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
        if draft.aligned:
            return "No task of the user needs it; reading changes nothing."
        return _best(draft.scores).reason
    if off_objective:
        return _best(draft.objective_scores).reason
    return _best(draft.scores).reason


def _best(scores: tuple[Score, ...]) -> Score:
    return max(scores, key=lambda score: score.value)
