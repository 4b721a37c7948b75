"""Two fixed judges to test benchmarks with: one allows all calls, one allows read calls only.

They read no text and cost nothing.
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


def allow_all(options: JudgeOptions) -> "FixedJudge":
    """A judge that aligns every call with every task."""
    return FixedJudge(_checked_name("allow-all", options), lambda call, view: True)


def block_side_effects(options: JudgeOptions) -> "FixedJudge":
    """A judge that aligns read calls only."""
    return FixedJudge(
        _checked_name("block-side-effects", options),
        lambda call, view: view.tiers.get(call.name) is Tier.READ,
    )


class FixedJudge:
    """Takes a user message as one task, finds no directives, and decides calls by a rule."""

    def __init__(self, name: str, aligned: _Verdict) -> None:
        self._name = name
        self._aligned = aligned

    @property
    def name(self) -> str:
        """The judge's name."""
        return self._name

    async def tasks(self, message: Message, view: SessionView) -> TaskAssessment:
        """The whole message as one task; a system message has no objectives."""
        tasks = (TaskDraft(text=message.text),) if message.level is Level.USER else ()
        return TaskAssessment(tasks=tasks, trace=Trace(judge=self._name))

    async def assess(self, message: Message, view: SessionView) -> Assessment:
        """Score 1 for every task if the rule allows the call, else 0."""
        items = tuple(self._assessed(call, view) for call in message.tool_calls)
        return Assessment(items=items, trace=Trace(judge=self._name))

    async def aclose(self) -> None:
        """Do nothing: there is nothing to close."""

    def _assessed(self, call: ToolCall, view: SessionView) -> AssessedInstruction:
        value = 1.0 if self._aligned(call, view) else 0.0

        def score(target: str) -> Score:
            return Score(target=target, value=value, reason=f"rule of {self._name}")

        return AssessedInstruction(
            text=call.describe(),
            call_id=call.id,
            scores=tuple(score(task.id) for task in view.tasks),
            objective_scores=tuple(score(goal.id) for goal in view.objectives),
        )


def _checked_name(name: str, options: JudgeOptions) -> str:
    if options.model:
        raise ConfigError(f"judge: {name!r} has no model. Remove the part after the colon.")
    return name
