"""Two judges in turn: a cheap one for clear cases, an expensive one for the others."""

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

from taskshield.core.assessments import (
    AssessedInstruction,
    Assessment,
    Contradiction,
    Score,
    TaskAssessment,
)
from taskshield.core.completeness import check_assessment, check_task_assessment
from taskshield.core.errors import JudgeError, JudgeOverwhelmed
from taskshield.core.judge import Judge, SessionView
from taskshield.core.judge_options import CascadeOptions
from taskshield.core.messages import Message
from taskshield.core.usage import Usage

Answer = TypeVar("Answer", Assessment, TaskAssessment)

_LEAST = 1e-4
"""Scores closer to 0 or 1 than this count as equal: no judge is calibrated that well."""
_SAVED = Usage(saved=1)
_DEFAULTS = CascadeOptions()


class CascadeJudge:
    """Asks the second judge if the first is not sure, or if the call could do much harm.

    The second judge gets the whole message, and its verdict replaces that of the first, except
    that a contradiction which the first found in a call stays: no verdict outweighs it. If the
    second fails, the first verdict counts, unless the options forbid it; the trace and the usage
    show this. If the first judge fails, the second is asked.
    """

    def __init__(
        self,
        first: Judge,
        second: Judge,
        options: CascadeOptions = _DEFAULTS,
        *,
        epsilon: float | None = None,
    ) -> None:
        """Combine two judges.

        Args:
            first: The judge that is always asked, so it should be cheap.
            second: The judge for cases that are not clear.
            options: Which cases are clear, and what happens if the second judge fails.
            epsilon: The policy's threshold; None uses the first judge's own.
        """
        self._first = first
        self._second = second
        self._options = options
        self._epsilon = epsilon

    @property
    def name(self) -> str:
        """Both names. An answer has the name of the judge that gave it."""
        return f"cascade({self._first.name}, {self._second.name})"

    async def tasks(self, message: Message, view: SessionView) -> TaskAssessment:
        """The answer of the judge that the options name, or of the other one if it fails."""
        if self._options.read_tasks == "embedded":
            try:
                answer = await self._first.tasks(message, view)
                check_task_assessment(answer)
            except JudgeError as error:
                return _with_usage(await self._second.tasks(message, view), error.usage)
            return _with_usage(answer, _SAVED)
        try:
            answer = await self._second.tasks(message, view)
            check_task_assessment(answer)
        except JudgeError as error:
            if self._is_final(error, message):
                raise
            return self._first_only(await self._first.tasks(message, view), error)
        return answer

    async def assess(self, message: Message, view: SessionView) -> Assessment:
        """The first judge's answer if every verdict is clear, else the second judge's."""
        try:
            first = await self._first.assess(message, view)
            check_assessment(first, message, view)
        except JudgeError as error:
            return _with_usage(await self._second.assess(message, view), error.usage)
        if all(self._is_clear(item, message, view) for item in first.items):
            return _with_usage(first, _SAVED)
        try:
            second = await self._second.assess(message, view)
            check_assessment(second, message, view)
        except JudgeError as error:
            if self._is_final(error, message):
                error.usage += first.trace.usage
                raise
            return self._first_only(first, error)
        return _with_usage(_with_contradictions(second, first), first.trace.usage)

    async def aclose(self) -> None:
        """Close both judges."""
        try:
            await self._first.aclose()
        finally:
            await self._second.aclose()

    def _is_clear(self, item: AssessedInstruction, message: Message, view: SessionView) -> bool:
        if item.contradictions:
            return True
        if item.call_id is not None:
            tier = view.tiers.get(message.call(item.call_id).name)
            if tier is None or tier in self._options.tiers:
                return False
        epsilon = item.epsilon if self._epsilon is None else self._epsilon
        return abs(margin(item, epsilon)) >= self._options.band

    def _is_final(self, error: JudgeError, message: Message) -> bool:
        """Whether this failure is an outage of the cascade.

        A call that is too long for the second judge always is: its sender chose the length, and
        must not be able to choose the judge that way.
        """
        oversized = isinstance(error, JudgeOverwhelmed) and bool(message.tool_calls)
        return oversized or self._options.on_outage == "fail"

    def _first_only(self, answer: Answer, error: JudgeError) -> Answer:
        """The first judge's answer after the second has failed."""
        judge = f"{answer.trace.judge} ({self._second.name} out: {error.kind})"
        answer = replace(answer, trace=replace(answer.trace, judge=judge))
        return _with_usage(answer, error.usage + Usage(fallbacks=1))


def _with_contradictions(second: Assessment, first: Assessment) -> Assessment:
    """The second answer, with what the first found against each call."""
    known = {item.call_id: item.contradictions for item in first.items if item.call_id}
    items = tuple(
        replace(
            item, contradictions=_joined(item.contradictions, known.get(item.call_id or "", ()))
        )
        for item in second.items
    )
    return replace(second, items=items)


def _joined(*found: tuple[Contradiction, ...]) -> tuple[Contradiction, ...]:
    return tuple(dict.fromkeys(each for part in found for each in part))


def margin(item: AssessedInstruction, epsilon: float) -> float:
    """The distance of a verdict from its threshold, in log-odds; above 0 if the item is aligned.

    Scores are treated as probabilities, so a total of 0.2 is as far above an epsilon of 0.05 as one
    of 0.83 is above 0.5. An aligned item must serve the tasks, and the objectives if there are any,
    and no tainted directive may explain it better. The smallest of these distances counts.
    """
    if item.contradictions:
        return -math.inf
    best = max((score.value for score in item.scores), default=0.0)
    distances = [_above(_total(item.scores), epsilon)]
    if item.objective_scores:
        distances.append(_above(_total(item.objective_scores), epsilon))
    strongest = max((score.value for score in item.taint_scores), default=0.0)
    if strongest > 0:
        distances.append(_above(best, strongest))
    return min(distances)


def _above(value: float, threshold: float) -> float:
    if value <= 0:
        return -math.inf  # the clearest "no"
    return _logit(value) - _logit(threshold)


def _logit(value: float) -> float:
    probability = min(max(value, _LEAST), 1 - _LEAST)
    return math.log(probability / (1 - probability))


def _total(scores: Iterable[Score]) -> float:
    return math.fsum(score.value for score in scores)


def _with_usage(answer: Answer, more: Usage) -> Answer:
    """The answer with additional usage."""
    trace = replace(answer.trace, usage=answer.trace.usage + more)
    return replace(answer, trace=trace)
