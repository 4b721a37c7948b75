"""A judge that remembers its answers."""

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeVar

from taskshield.core.assessments import Assessment, TaskAssessment
from taskshield.core.completeness import check_assessment, check_task_assessment
from taskshield.core.history import recent
from taskshield.core.judge import Judge, SessionView
from taskshield.core.messages import Message, digest
from taskshield.core.usage import NO_USAGE
from taskshield.judges.call_ids import CallIds

Answer = TypeVar("Answer", Assessment, TaskAssessment)


class CachedJudge:
    """Gives the same answer to the same question without asking twice.

    Keys are hashes of all that the judge looks at, but for call ids, which only name calls. So an
    entry can never be wrong, only old; the least recently used go first. Failures and verdicts that
    are not full are not remembered.
    """

    def __init__(self, judge: Judge, *, entries: int, history_tokens: int | None = None) -> None:
        """Wrap a judge.

        Args:
            judge: The judge.
            entries: How many answers of each kind are remembered.
            history_tokens: Where the judge looks at the recent past only: at how much of it.
        """
        self._judge = judge
        self._entries = entries
        self._history_tokens = history_tokens
        self._readings: OrderedDict[str, Assessment] = OrderedDict()
        self._tasks: OrderedDict[str, TaskAssessment] = OrderedDict()

    @property
    def name(self) -> str:
        """The inner judge's name."""
        return self._judge.name

    async def tasks(self, message: Message, view: SessionView) -> TaskAssessment:
        """As the inner judge, or as it answered before."""
        return await self._through(self._tasks, self._read, message, view)

    async def assess(self, message: Message, view: SessionView) -> Assessment:
        """As the inner judge, or as it answered before."""
        ids = CallIds(message, view)
        reading = await self._through(self._readings, self._assess, ids.message, ids.view)
        return ids.restored(reading)

    async def aclose(self) -> None:
        """Close the inner judge and forget."""
        self._readings.clear()
        self._tasks.clear()
        await self._judge.aclose()

    async def _read(self, message: Message, view: SessionView) -> TaskAssessment:
        reading = await self._judge.tasks(message, view)
        check_task_assessment(reading)
        return reading

    async def _assess(self, message: Message, view: SessionView) -> Assessment:
        reading = await self._judge.assess(message, view)
        check_assessment(reading, message, view)
        return reading

    async def _through(
        self,
        known: OrderedDict[str, Answer],
        ask: Callable[[Message, SessionView], Awaitable[Answer]],
        message: Message,
        view: SessionView,
    ) -> Answer:
        # Every value in a view is a frozen dataclass, whose repr spells out all of its content.
        key = digest(self.name, repr(message), repr(self._seen(view)))
        if key in known:
            known.move_to_end(key)
            return known[key]
        answer = await ask(message, view)
        known[key] = replace(answer, trace=replace(answer.trace, cached=True, usage=NO_USAGE))
        if len(known) > self._entries:
            known.popitem(last=False)
        return answer

    def _seen(self, view: SessionView) -> SessionView:
        """What the judge looks at."""
        if self._history_tokens is None:
            return view
        return replace(view, history=recent(view.history, self._history_tokens))
