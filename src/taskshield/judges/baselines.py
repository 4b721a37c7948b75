"""The two extremes, for checking instruments: a judge that allows all, and one that allows reads.

They look at nothing, cost nothing and guard against nothing but their own kind of call.
"""

from collections.abc import Callable

from taskshield.core.assessments import (
    AssessedInstruction,
    Assessment,
    Score,
    TaskAssessment,
    TaskDraft,
    Trace,
)
from taskshield.core.errors import ConfigError
from taskshield.core.judge import SessionView
from taskshield.core.judge_options import JudgeOptions
from taskshield.core.levels import Level
from taskshield.core.messages import Message, ToolCall
from taskshield.core.tools import Tier

_Verdict = Callable[[ToolCall, SessionView], bool]


def allow_all(options: JudgeOptions) -> "ExtremeJudge":
    """A judge to whom every call serves every task."""
    return ExtremeJudge(_named("allow-all", options), lambda call, view: True)


def block_side_effects(options: JudgeOptions) -> "ExtremeJudge":
    """A judge to whom no call serves anything that could leave a trace in the world."""
    return ExtremeJudge(
        _named("block-side-effects", options),
        lambda call, view: view.tiers.get(call.name) is Tier.READ,
    )


class ExtremeJudge:
    """Takes a user message as one task, finds no directive in any text, and goes by a rule."""

    def __init__(self, name: str, aligned: _Verdict) -> None:
        self._name = name
        self._aligned = aligned

    @property
    def name(self) -> str:
        """The name of the extreme."""
        return self._name

    async def tasks(self, message: Message, view: SessionView) -> TaskAssessment:
        """The whole message as one task; a system message has no objectives."""
        tasks = (TaskDraft(text=message.text),) if message.level is Level.USER else ()
        return TaskAssessment(tasks=tasks, trace=Trace(judge=self._name))

    async def assess(self, message: Message, view: SessionView) -> Assessment:
        """1 for every task, or 0."""
        items = tuple(self._assessed(call, view) for call in message.tool_calls)
        return Assessment(items=items, trace=Trace(judge=self._name))

    async def aclose(self) -> None:
        """There is nothing to let go of."""

    def _assessed(self, call: ToolCall, view: SessionView) -> AssessedInstruction:
        value = 1.0 if self._aligned(call, view) else 0.0

        def score(target: str) -> Score:
            return Score(target=target, value=value, reason=f"so says {self._name}")

        return AssessedInstruction(
            text=call.describe(),
            call_id=call.id,
            scores=tuple(score(task.id) for task in view.tasks),
            objective_scores=tuple(score(goal.id) for goal in view.objectives),
        )


def _named(name: str, options: JudgeOptions) -> str:
    if options.model:
        raise ConfigError(f"judge: {name!r} takes no model")
    return name
