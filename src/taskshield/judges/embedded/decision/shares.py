"""Divides the probability that something serves the user among the tasks."""

from collections.abc import Sequence

from taskshield.core.assessments import Score
from taskshield.core.instructions import Objective, Task
from taskshield.core.messages import ToolCall
from taskshield.judges.embedded.evidence.call_evidence import plan_call
from taskshield.judges.embedded.evidence.explanation import explained_share


def shared_out(
    total: float,
    text: str,
    tasks: Sequence[Task | Objective],
    reason: str,
    call: ToolCall | None = None,
) -> tuple[Score, ...]:
    """The probability that something serves the user, divided among the tasks that explain it.

    Objectives are treated alike. This judge reads none, but policy may turn a system message into
    one.
    """
    wanted = plan_call(text) if call is None else call
    weights = [0.05 + explained_share(wanted, task.text).share for task in tasks]
    whole = sum(weights)
    return tuple(
        Score(target=task.id, value=total * weight / whole, reason=reason)
        for task, weight in zip(tasks, weights, strict=True)
    )
