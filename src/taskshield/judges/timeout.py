"""A judge with a time limit.

What it awaits is cancelled, and work in threads ends at its next look at the deadline.
"""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from taskshield.core import deadline
from taskshield.core.assessments import Assessment, TaskAssessment
from taskshield.core.errors import JudgeTimeout
from taskshield.core.judge import Judge, SessionView
from taskshield.core.messages import Message
from taskshield.core.usage import Usage

Answer = TypeVar("Answer")


class TimedJudge:
    """Turns a judge that takes too long into an outage."""

    def __init__(self, judge: Judge, *, seconds: float, calls: int = 1) -> None:
        """Wrap a judge.

        Args:
            judge: The judge.
            seconds: Longest time for an answer.
            calls: Model calls that count where there is no answer; there may have been more.
        """
        self._judge = judge
        self._seconds = seconds
        self._usage = Usage(calls=calls)

    @property
    def name(self) -> str:
        """The inner judge's name."""
        return self._judge.name

    async def tasks(self, message: Message, view: SessionView) -> TaskAssessment:
        """The inner judge's answer, if it arrives in time."""
        return await self._in_time(self._judge.tasks(message, view))

    async def assess(self, message: Message, view: SessionView) -> Assessment:
        """The inner judge's answer, if it arrives in time."""
        return await self._in_time(self._judge.assess(message, view))

    async def aclose(self) -> None:
        """Close the inner judge."""
        await self._judge.aclose()

    async def _in_time(self, answer: Awaitable[Answer]) -> Answer:
        try:
            with deadline.within(self._seconds):
                async with asyncio.timeout(self._seconds):
                    return await answer
        except TimeoutError:
            raise JudgeTimeout(
                f"The judge did not answer within {self._seconds:g} s.",
                usage=self._usage,
            ) from None
