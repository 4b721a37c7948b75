"""Checks that a judge's answer is a complete verdict.

Judges are plugins and models. An answer that leaves out or invents something is an outage, not an
"allow".
"""

import math
from collections.abc import Collection
from typing import get_args

from taskshield.core.assessments import (
    Assessment,
    Contradiction,
    ContradictionKind,
    Score,
    TaskAssessment,
)
from taskshield.core.errors import JudgeOutputInvalid
from taskshield.core.judge import SessionView
from taskshield.core.messages import Message


def check_task_assessment(answer: TaskAssessment) -> None:
    """Check that no task or objective is empty."""
    if not all(draft.text.strip() for draft in (*answer.tasks, *answer.objectives)):
        raise JudgeOutputInvalid("The judge returned an empty task.", usage=answer.trace.usage)


def check_assessment(answer: Assessment, message: Message, view: SessionView) -> None:
    """Check that every call is assessed, and every target scored, exactly once."""
    problem = _problem(answer, message, view)
    if problem is not None:
        raise JudgeOutputInvalid(problem, usage=answer.trace.usage)


def _problem(answer: Assessment, message: Message, view: SessionView) -> str | None:
    calls = [item.call_id for item in answer.items if item.call_id is not None]
    if sorted(calls) != sorted(call.id for call in message.tool_calls):
        return "The judge did not assess each tool call exactly once."
    tasks = [task.id for task in view.tasks]
    objectives = [goal.id for goal in view.objectives]
    tainted = {directive.id for directive in view.tainted}
    for item in answer.items:
        scored = [score.target for score in item.taint_scores if score.target in tainted]
        problem = (
            _score_problem(item.scores, tasks, "user task")
            or _score_problem(item.objective_scores, objectives, "objective")
            or _score_problem(item.taint_scores, scored, "tainted directive")
            or _contradiction_problem(item.contradictions, {*tasks, *objectives})
        )
        if problem is not None:
            return problem
        if not (math.isfinite(item.epsilon) and item.epsilon >= 0):
            return "The judge's threshold is not a finite number of at least 0."
        if item.asked_from is not None and not math.isfinite(item.asked_from):
            return "The judge's level for what the user asked for is not a finite number."
    return None


def _score_problem(scores: tuple[Score, ...], targets: list[str], kind: str) -> str | None:
    if sorted(score.target for score in scores) != sorted(set(targets)):
        return f"The judge did not score each {kind} exactly once."
    if not all(0.0 <= score.value <= 1.0 for score in scores):
        return f"The judge gave one {kind} a score that is not between 0 and 1."
    return None


def _contradiction_problem(
    found: tuple[Contradiction, ...], targets: Collection[str]
) -> str | None:
    """Only the user's tasks and the objectives can rule something out, and only in words."""
    if not all(each.target in targets for each in found):
        return "The judge named a contradiction with something that is no task and no objective."
    if not all(each.kind in get_args(ContradictionKind) for each in found):
        return "The judge named a contradiction of an unknown kind."
    if not all(each.said.strip() and each.does.strip() for each in found):
        return "The judge named a contradiction without its words."
    return None
