"""Whether a judge's answer is a full verdict.

Judges are plugins and models; whatever they leave out or make up is an outage, not an "allow".
"""

import math

from taskshield.core.assessments import Assessment, Score, TaskAssessment
from taskshield.core.errors import JudgeOutputInvalid
from taskshield.core.judge import SessionView
from taskshield.core.messages import Message


def check_task_assessment(reading: TaskAssessment) -> None:
    """Make sure that every task and objective says something."""
    if not all(draft.text.strip() for draft in (*reading.tasks, *reading.objectives)):
        raise JudgeOutputInvalid("the judge read an empty instruction", usage=reading.trace.usage)


def check_assessment(reading: Assessment, message: Message, view: SessionView) -> None:
    """Make sure that every call is assessed and every target scored, exactly once."""
    problem = _problem(reading, message, view)
    if problem is not None:
        raise JudgeOutputInvalid(problem, usage=reading.trace.usage)


def _problem(reading: Assessment, message: Message, view: SessionView) -> str | None:
    calls = [item.call_id for item in reading.items if item.call_id is not None]
    if sorted(calls) != sorted(call.id for call in message.tool_calls):
        return "the judge did not assess each tool call exactly once"
    tasks = [task.id for task in view.tasks]
    objectives = [goal.id for goal in view.objectives]
    tainted = {directive.id for directive in view.tainted}
    for item in reading.items:
        named = [score.target for score in item.taint_scores if score.target in tainted]
        problem = (
            _score_problem(item.scores, tasks, "user task")
            or _score_problem(item.objective_scores, objectives, "objective")
            or _score_problem(item.taint_scores, named, "tainted directive")
        )
        if problem is not None:
            return problem
        if not (math.isfinite(item.epsilon) and item.epsilon >= 0):
            return "the judge's threshold is not a number from 0 on"
    return None


def _score_problem(scores: tuple[Score, ...], targets: list[str], kind: str) -> str | None:
    if sorted(score.target for score in scores) != sorted(set(targets)):
        return f"the judge did not score each {kind} exactly once"
    if not all(0.0 <= score.value <= 1.0 for score in scores):
        return f"a score for a {kind} is not between 0 and 1"
    return None
