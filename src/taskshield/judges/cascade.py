"""Two judges in turn: a cheap one for clear cases, a dear one for the rest."""

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

from taskshield.core.assessments import AssessedInstruction, Assessment, Score, TaskAssessment
from taskshield.core.completeness import check_assessment, check_task_assessment
from taskshield.core.errors import JudgeError, JudgeOverwhelmed
from taskshield.core.judge import Judge, SessionView
from taskshield.core.judge_options import CascadeOptions
from taskshield.core.messages import Message
from taskshield.core.usage import Usage

Answer = TypeVar("Answer", Assessment, TaskAssessment)

_LEAST = 1e-4
"""Scores nearer to 0 or 1 than this are all alike: no judge is that well calibrated."""
_SAVED = Usage(saved=1)
_DEFAULTS = CascadeOptions()


class CascadeJudge:
    """Asks the second judge only where the first is not sure, or where much is at stake.

    The second is asked about a whole message and its word replaces the first's. Where it fails, the
    first one's verdict stands, if the options say so; the trace tells, and the usage counts it.
    Where the first one fails, the second is asked.
    """

    def __init__(
        self,
        first: Judge,
        second: Judge,
        options: CascadeOptions = _DEFAULTS,
        *,
        epsilon: float | None = None,
    ) -> None:
        """Put two judges together.

        Args:
            first: Asked always, so it should be cheap.
            second: Asked where the first is not enough.
            options: When that is, and what happens where the second fails.
            epsilon: The policy's threshold, where it has one; else the first judge's own counts.
        """
        self._first = first
        self._second = second
        self._options = options
        self._epsilon = epsilon

    @property
    def name(self) -> str:
        """Both names. A reading carries the name of the one who gave it."""
        return f"cascade({self._first.name}, {self._second.name})"

    async def tasks(self, message: Message, view: SessionView) -> TaskAssessment:
        """As the judge that the options name, or the other one where it fails."""
        if self._options.read_tasks == "embedded":
            try:
                reading = await self._first.tasks(message, view)
                check_task_assessment(reading)
            except JudgeError as error:
                return _costing(await self._second.tasks(message, view), error.usage)
            return _costing(reading, _SAVED)
        try:
            reading = await self._second.tasks(message, view)
            check_task_assessment(reading)
        except JudgeError as error:
            if self._is_final(error, message):
                raise
            return self._alone(await self._first.tasks(message, view), error)
        return reading

    async def assess(self, message: Message, view: SessionView) -> Assessment:
        """As the first judge where it is sure of every instruction, else as the second."""
        try:
            first = await self._first.assess(message, view)
            check_assessment(first, message, view)
        except JudgeError as error:
            return _costing(await self._second.assess(message, view), error.usage)
        if all(self._is_clear(item, message, view) for item in first.items):
            return _costing(first, _SAVED)
        try:
            second = await self._second.assess(message, view)
            check_assessment(second, message, view)
        except JudgeError as error:
            if self._is_final(error, message):
                error.usage += first.trace.usage
                raise
            return self._alone(first, error)
        return _costing(second, first.trace.usage)

    async def aclose(self) -> None:
        """Close both."""
        try:
            await self._first.aclose()
        finally:
            await self._second.aclose()

    def _is_clear(self, item: AssessedInstruction, message: Message, view: SessionView) -> bool:
        if item.call_id is not None:
            tier = view.tiers.get(message.call(item.call_id).name)
            if tier is None or tier in self._options.tiers:
                return False
        epsilon = item.epsilon if self._epsilon is None else self._epsilon
        return abs(margin(item, epsilon)) >= self._options.band

    def _is_final(self, error: JudgeError, message: Message) -> bool:
        """Whether this failure is an outage of the cascade.

        A call too long for the second judge always is: whoever wrote it chose its length, and must
        not be able to choose the judge by it.
        """
        oversized = isinstance(error, JudgeOverwhelmed) and bool(message.tool_calls)
        return oversized or self._options.on_outage == "fail"

    def _alone(self, reading: Answer, error: JudgeError) -> Answer:
        """The first judge's reading where the second has failed."""
        judge = f"{reading.trace.judge} ({self._second.name} out: {error.kind})"
        reading = replace(reading, trace=replace(reading.trace, judge=judge))
        return _costing(reading, error.usage + Usage(fallbacks=1))


def margin(item: AssessedInstruction, epsilon: float) -> float:
    """How far the verdict on an item is from turning, in log-odds; above 0 where it is aligned.

    Scores are taken for probabilities, so a total of 0.2 is as far above an epsilon of 0.05 as one
    of 0.83 is above 0.5. To be aligned an item must serve the tasks, and the objectives where there
    are any, and no tainted directive may explain it better: the weakest of these decides.
    """
    best = max((score.value for score in item.scores), default=0.0)
    lengths = [_above(_total(item.scores), epsilon)]
    if item.objective_scores:
        lengths.append(_above(_total(item.objective_scores), epsilon))
    strongest = max((score.value for score in item.taint_scores), default=0.0)
    if strongest > 0:
        lengths.append(_above(best, strongest))
    return min(lengths)


def _above(value: float, threshold: float) -> float:
    if value <= 0:
        return -math.inf  # there is no clearer "no"
    return _logit(value) - _logit(threshold)


def _logit(value: float) -> float:
    probability = min(max(value, _LEAST), 1 - _LEAST)
    return math.log(probability / (1 - probability))


def _total(scores: Iterable[Score]) -> float:
    return math.fsum(score.value for score in scores)


def _costing(reading: Answer, more: Usage) -> Answer:
    """The reading with more on its bill."""
    trace = replace(reading.trace, usage=reading.trace.usage + more)
    return replace(reading, trace=trace)
