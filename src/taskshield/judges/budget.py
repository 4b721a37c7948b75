"""A judge with a budget of model calls and tokens."""

from collections.abc import Awaitable
from typing import TypeVar

from taskshield.core.assessments import Assessment, TaskAssessment
from taskshield.core.errors import JudgeBudgetExceeded, JudgeError
from taskshield.core.judge import Judge, SessionView
from taskshield.core.messages import Message
from taskshield.core.usage import NO_USAGE, Usage

Answer = TypeVar("Answer", Assessment, TaskAssessment)


class BudgetJudge:
    """Refuses checks when the budget of model calls or tokens is used up.

    The cost of a check is known only afterwards, so the last check may exceed the budget.
    """

    def __init__(
        self, judge: Judge, *, calls: int | None = None, tokens: int | None = None
    ) -> None:
        self._judge = judge
        self._calls = calls
        self._tokens = tokens
        self._spent = NO_USAGE

    @property
    def name(self) -> str:
        """The inner judge's name."""
        return self._judge.name

    @property
    def spent(self) -> Usage:
        """The usage so far, including failed checks."""
        return self._spent

    async def tasks(self, message: Message, view: SessionView) -> TaskAssessment:
        """The inner judge's answer, until the budget is used up."""
        self._check()
        return await self._counted(self._judge.tasks(message, view))

    async def assess(self, message: Message, view: SessionView) -> Assessment:
        """The inner judge's answer, until the budget is used up."""
        self._check()
        return await self._counted(self._judge.assess(message, view))

    async def aclose(self) -> None:
        """Close the inner judge."""
        await self._judge.aclose()

    def _check(self) -> None:
        if self._calls is not None and self._spent.calls >= self._calls:
            raise JudgeBudgetExceeded(f"The budget of {self._calls} model calls is used up.")
        if self._tokens is not None and self._spent.tokens >= self._tokens:
            raise JudgeBudgetExceeded(f"The budget of {self._tokens} tokens is used up.")

    async def _counted(self, answer: Awaitable[Answer]) -> Answer:
        try:
            result = await answer
        except JudgeError as error:
            self._spent += error.usage
            raise
        self._spent += result.trace.usage
        return result
