"""A judge that caches its answers."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeVar

from cachetools import LRUCache

from taskshield.core.assessments import Assessment, TaskAssessment
from taskshield.core.completeness import check_assessment, check_task_assessment
from taskshield.core.history import recent
from taskshield.core.judge import Judge, SessionView
from taskshield.core.messages import Message, digest
from taskshield.core.usage import NO_USAGE
from taskshield.judges.call_ids import CallIds

Answer = TypeVar("Answer", Assessment, TaskAssessment)


_LONGEST = 20_000
"""Characters of an answer that is cached; answers repeat the words that they are about."""


class CachedJudge:
    """Gives the same answer to the same question without a second request.

    Keys are hashes of everything that the judge reads, except call ids, which only name calls. So
    an entry can be old but never wrong; the least recently used entries are dropped first. Failures
    and incomplete verdicts are not cached.
    """

    def __init__(self, judge: Judge, *, entries: int, history_tokens: int | None = None) -> None:
        """Wrap a judge.

        Args:
            judge: The judge.
            entries: Most answers of each kind in the cache.
            history_tokens: How much of the history the judge reads; None for all of it.
        """
        self._judge = judge
        self._history_tokens = history_tokens
        self._assessments: LRUCache[str, Assessment] = LRUCache(entries)
        self._tasks: LRUCache[str, TaskAssessment] = LRUCache(entries)

    @property
    def name(self) -> str:
        """The inner judge's name."""
        return self._judge.name

    async def tasks(self, message: Message, view: SessionView) -> TaskAssessment:
        """The inner judge's answer, from the cache if it is there."""
        return await self._cached(self._tasks, self._ask_tasks, message, view)

    async def assess(self, message: Message, view: SessionView) -> Assessment:
        """The inner judge's answer, from the cache if it is there."""
        ids = CallIds(message, view)
        assessment = await self._cached(
            self._assessments, self._ask_assessment, ids.message, ids.view
        )
        return ids.restored(assessment)

    async def aclose(self) -> None:
        """Close the inner judge and clear the cache."""
        self._assessments.clear()
        self._tasks.clear()
        await self._judge.aclose()

    async def _ask_tasks(self, message: Message, view: SessionView) -> TaskAssessment:
        answer = await self._judge.tasks(message, view)
        check_task_assessment(answer)
        return answer

    async def _ask_assessment(self, message: Message, view: SessionView) -> Assessment:
        answer = await self._judge.assess(message, view)
        check_assessment(answer, message, view)
        return answer

    async def _cached(
        self,
        cache: LRUCache[str, Answer],
        ask: Callable[[Message, SessionView], Awaitable[Answer]],
        message: Message,
        view: SessionView,
    ) -> Answer:
        # Every value in a view is a frozen dataclass, so its repr contains all of its content.
        key = digest(self.name, repr(message), repr(self._read_part(view)))
        known = cache.get(key)
        if known is not None:
            return known
        answer = await ask(message, view)
        if _length(answer) <= _LONGEST:
            cache[key] = replace(answer, trace=replace(answer.trace, cached=True, usage=NO_USAGE))
        return answer

    def _read_part(self, view: SessionView) -> SessionView:
        """The part of the view that the judge reads."""
        if self._history_tokens is None:
            return view
        return replace(view, history=recent(view.history, self._history_tokens))


def _length(answer: Assessment | TaskAssessment) -> int:
    if isinstance(answer, TaskAssessment):
        return sum(len(draft.text) for draft in (*answer.tasks, *answer.objectives))
    return sum(
        len(item.text) + sum(len(each.said) + len(each.does) for each in item.contradictions)
        for item in answer.items
    )
