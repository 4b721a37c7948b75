"""Shields for tests of integrations."""

from collections.abc import Callable, Iterator
from typing import Any

from taskshield import Shield
from tests.judging import TableJudge

Guard = Callable[..., Shield]
"""Makes a shield with this policy, and with this judge or the usual one."""


def made_with(usual: Callable[[], TableJudge]) -> Iterator[Guard]:
    """For a fixture: makes shields, and closes them after the test."""
    made: list[Shield] = []

    def make(judge: TableJudge | None = None, **policy: Any) -> Shield:
        made.append(Shield(usual() if judge is None else judge, policy=policy))
        return made[-1]

    yield make
    for shield in made:
        shield.close()
