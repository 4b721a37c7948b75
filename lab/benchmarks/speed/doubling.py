"""Measures whether one work takes linear time: its worst texts, each at double the size again.

Time is processor time, and of several runs the shortest counts, so that other programs on the
machine change little. What is over the bar is measured again, before it is believed.
"""

import resource
import signal
from collections.abc import Callable, Sequence
from typing import NamedTuple

from pattern_texts import Unit

from taskshield_lab.bench.scripts.processor_time import seconds

Work = Callable[[str], object]

BAR = 2.3
"""Double the text may take so many times as long."""
SIZES = (64_000, 128_000, 256_000, 512_000, 1_024_000)
"""Characters."""
_FAR = 3.2
"""A ratio over this one is no chance: no longer text is tried."""
_SMALL = (640, 2_560)
"""What every text is read at, to find the worst."""
_LARGER = (4_096, 16_384)
"""What those are read at that take long for their size, or longer the longer they are."""
_CANDIDATES, _WORST = 8, 2
"""Of each kind."""
_MEASURABLE_S = 0.00005
_FEWEST_RUNS, _MOST_RUNS = 3, 20
_ENOUGH_S, _LONG_S = 0.05, 0.5
"""More runs than the fewest until they took so long together, fewer if they took that long."""
_ROUNDS = 5
_LIMIT_S = 60
"""For one text."""


class Measured(NamedTuple):
    """One work on one text that doubles."""

    unit: Unit
    ratio: float
    """The worst of all doublings."""
    ms: float
    """Milliseconds for the longest text."""


def limit_processor_time() -> None:
    """Let this process end if what comes next takes too long.

    A thread could not be stopped while a pattern is searched for.
    """
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    most = int(used.ru_utime + used.ru_stime) + 1 + _LIMIT_S
    signal.signal(signal.SIGXCPU, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CPU, (most, hard))


def worst(work: Work, tried: Sequence[Unit], begin: Callable[[Unit], None]) -> dict[Unit, float]:
    """The texts that take longest for their size, and those that take longer the longer they are.

    Args:
        work: What reads the texts.
        tried: The texts.
        begin: Called before each text.

    Returns:
        The seconds that each takes.
    """
    found = _worst(work, tried, begin, _SMALL, _CANDIDATES, runs=1)
    return _worst(work, list(found), begin, _LARGER, _WORST, runs=2)


def _worst(
    work: Work,
    tried: Sequence[Unit],
    begin: Callable[[Unit], None],
    sizes: tuple[int, int],
    most: int,
    runs: int,
) -> dict[Unit, float]:
    spent: dict[Unit, float] = {}
    growth: dict[Unit, float] = {}
    for unit in tried:
        begin(unit)
        short, long = (
            min(seconds(work, unit.text(size + more * len(unit.repeated))) for more in range(runs))
            for size in sizes
        )
        spent[unit] = long
        growth[unit] = long / max(short, _MEASURABLE_S) if long > _MEASURABLE_S else 0.0
    slow = sorted(tried, key=lambda unit: -spent[unit])[:most]
    growing = sorted(tried, key=lambda unit: -growth[unit])[:most]
    return {unit: spent[unit] for unit in (*slow, *growing)}


def doubled(work: Work, unit: Unit) -> Measured:
    """The worst time ratio of all doublings of one text."""
    highest, before = 0.0, _shortest(work, unit, SIZES[0])
    for small, large in zip(SIZES, SIZES[1:], strict=False):
        spent = _shortest(work, unit, large)
        for _ in range(_ROUNDS):
            if spent <= max(BAR * before, _MEASURABLE_S):
                break
            before = min(before, _shortest(work, unit, small))
            spent = min(spent, _shortest(work, unit, large))
        if spent > _MEASURABLE_S:
            highest = max(highest, spent / before)
        before = spent
        if highest > _FAR:
            break
    return Measured(unit, highest, before * 1000)


def _shortest(work: Work, unit: Unit, size: int) -> float:
    """Seconds of the shortest of some runs, each with a text that was not read before."""
    spent: list[float] = []
    while (
        not spent
        or (len(spent) < _FEWEST_RUNS and sum(spent) < _LONG_S)
        or (len(spent) < _MOST_RUNS and sum(spent) < _ENOUGH_S)
    ):
        limit_processor_time()
        spent.append(seconds(work, unit.text(size + len(spent) * len(unit.repeated))))
    return min(spent)
