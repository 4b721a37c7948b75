"""Shields for tests of integrations."""

from collections.abc import Callable, Iterator
from typing import Any

from taskshield import Shield
from tests.judging import TableJudge

Guard = Callable[..., Shield]
"""Makes a shield, of a judge of its own or the usual one, with this policy."""


def made_with(usual: Callable[[], TableJudge]) -> Iterator[Guard]:
    """For a fixture: makes shields that are closed after the test."""
    made: list[Shield] = []

    def make(judge: TableJudge | None = None, **policy: Any) -> Shield:
        made.append(Shield(usual() if judge is None else judge, policy=policy))
        return made[-1]

    yield make
    for shield in made:
        shield.close()
