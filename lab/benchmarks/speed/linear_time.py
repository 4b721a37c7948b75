"""Whether every pattern and every function over untrusted text takes linear time.

Each pattern is tried on texts made for it, each function on texts that are hard for one of them.
The worst texts of each are then read at 64 kB and four times at double the size. The bar is a
time ratio of 2.3 for each doubling. Work that takes a minute for one text is over it, too.
"""

import argparse
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import doubling
from child_processes import Tell, outcomes
from collected_patterns import patterns
from doubling import BAR, SIZES, Measured, Work
from engine_functions import ENGINE_FUNCTIONS
from pattern_texts import GENERIC, Unit, units
from text_functions import FUNCTIONS, UNITS
from wire_functions import WIRE_FUNCTIONS

from taskshield_lab.bench.scripts import results_file
from taskshield_lab.bench.scripts.processor_time import seconds

_SMALL, _GROWTH = 160, 4
_MOST = 8.5
"""Four times the text may take so many times as long: four if linear, sixteen if quadratic."""
_MEASURABLE_S = 0.00025
_TRIES = 4
_LONG_ENOUGH_S = 0.02


@dataclass(frozen=True, slots=True, eq=False)
class Tried:
    """A pattern or a function with the texts that it is tried on."""

    name: str
    file: str
    """Where it stands, below `src`."""
    work: Work
    units: Sequence[Unit]
    is_pattern: bool


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """One line of the table."""

    tried: Tried
    unit: Unit
    """The text with the worst ratio."""
    ratio: float
    """None was found where it is infinite: the time for one text was up."""
    ms: float
    """Milliseconds for the largest size."""


def pattern_work(pattern: re.Pattern[Any]) -> Work:
    """Search a text for all matches."""

    def work(text: str) -> None:
        for _ in pattern.finditer(text.encode() if isinstance(pattern.pattern, bytes) else text):
            pass

    return work


def tried_patterns(most_units: int | None = None) -> Iterator[Tried]:
    """Every pattern with the texts that it is tried on."""
    for name, (file, pattern) in patterns().items():
        yield Tried(name, file, pattern_work(pattern), _some(units(pattern), most_units), True)


def tried_functions(most_units: int | None = None) -> Iterator[Tried]:
    """Every function with the texts that it is tried on."""
    for name, file, work, own in (*FUNCTIONS, *ENGINE_FUNCTIONS, *WIRE_FUNCTIONS):
        hard = [
            Unit(before, unit, after)
            for unit in dict.fromkeys((*own, *UNITS, *GENERIC))
            for before, after in (("", ""), ("a\n", "\nx"))
        ]
        yield Tried(name, file, work, _some(hard, most_units), False)


def _some(found: Sequence[Unit], most: int | None) -> Sequence[Unit]:
    return found if most is None else found[:: len(found) // most + 1]


def superlinear(work: Work, tried: Iterable[Unit], small: int = _SMALL) -> Unit | None:
    """The first of these texts that takes more than linear time, on small sizes.

    What looks so is tried again, because a machine may be busy elsewhere.
    """
    for unit in tried:
        if _explodes(work, unit):
            return unit
        size = small
        while _grows_fast(work, unit, size):
            if size > small or seconds(work, unit.text(size * _GROWTH)) > _LONG_ENOUGH_S:
                return unit
            size *= _GROWTH
    return None


def _explodes(work: Work, unit: Unit) -> bool:
    """Whether time grows faster than with any power of the size: then no longer text is tried."""
    return any(_grows(work, unit, size, 2, 4 * _MEASURABLE_S) for size in (40, 80))


def _grows_fast(work: Work, unit: Unit, size: int) -> bool:
    return _grows(work, unit, size, _GROWTH, _MEASURABLE_S)


def _grows(work: Work, unit: Unit, size: int, growth: int, measurable: float) -> bool:
    """Whether a text so many times as long takes too many times as long."""
    if seconds(work, unit.text(growth * size)) < measurable:
        return False
    # Each try reads texts of other lengths: what is read again may be remembered.
    return all(
        seconds(work, unit.text(growth * size + more))
        > _MOST * max(seconds(work, unit.text(size + more)), _MEASURABLE_S / 16)
        for more in range(len(unit.repeated), (_TRIES + 1) * len(unit.repeated), len(unit.repeated))
    )


def table(tried: Sequence[Tried], jobs: int) -> list[Row]:
    """The worst text of each, the gravest first."""
    rows: dict[int, Row] = {}

    def keep(number: int, found: Measured) -> None:
        before = rows.get(number)
        if before is None or found.ratio > before.ratio:
            rows[number] = Row(tried[number], found.unit, round(found.ratio, 2), round(found.ms, 2))

    pairs: list[tuple[float, int, Unit]] = []
    for number, answer, told in outcomes(range(len(tried)), _Screening(tried), jobs):
        if answer is None:
            keep(number, Measured(told, float("inf"), 0.0))
        else:
            pairs += ((spent, number, unit) for unit, spent in answer.items())
        _say(f"{number + 1} of {len(tried)}")
    pairs.sort(key=lambda pair: -pair[0])  # the longest first, so that all end together
    doublings = outcomes([pair[1:] for pair in pairs], _Doubling(tried), jobs)
    for (number, unit), answer, _ in doublings:
        keep(number, Measured(unit, float("inf"), 0.0) if answer is None else answer)
        _say(f"{tried[number].name}: {rows[number].ratio}", always=rows[number].ratio > BAR)
    return sorted(rows.values(), key=lambda row: -row.ratio)


class _Screening:
    def __init__(self, tried: Sequence[Tried]) -> None:
        self._tried = tried

    def __call__(self, number: int, tell: Tell) -> dict[Unit, float]:
        def begin(unit: Unit) -> None:
            tell(unit)
            doubling.limit_processor_time()

        one = self._tried[number]
        return doubling.worst(one.work, one.units, begin)


class _Doubling:
    def __init__(self, tried: Sequence[Tried]) -> None:
        self._tried = tried

    def __call__(self, pair: tuple[int, Unit], tell: Tell) -> Measured:
        number, unit = pair
        return doubling.doubled(self._tried[number].work, unit)


def _say(text: str, *, always: bool = False) -> None:
    if always:
        print(text, file=sys.stderr, flush=True)
    elif sys.stderr.isatty():
        print(f"\r{text:.100}\x1b[K", end="", file=sys.stderr)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--units", type=int, help="texts tried for each; all by default")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at once")
    parser.add_argument("--only", default="", help="measure those whose name or file has this")
    options = parser.parse_args()
    tried = [
        one
        for one in (*tried_patterns(options.units), *tried_functions(options.units))
        if options.only in f"{one.file} {one.name}"
    ]
    rows = table(tried, options.jobs)
    over = [row for row in rows if row.ratio > BAR]
    if not options.only:
        results_file.write("linear_time", _figures(rows), inputs=[], folder=results_file.RESULTS)
    for row in dict.fromkeys((*rows[:20], *over)):
        print(f"{row.ratio:5.2f} {row.ms:9.1f} ms  {row.tried.name}  {row.unit.repeated[:30]!r}")
    print(f"{len(rows)} rows, {len(over)} over the bar.")
    sys.exit(len(over) > 0)


def _figures(rows: Sequence[Row]) -> dict[str, object]:
    return {
        "sizes": list(SIZES),
        "bar": BAR,
        "patterns": sum(row.tried.is_pattern for row in rows),
        "functions": sum(not row.tried.is_pattern for row in rows),
        "texts": sum(len(row.tried.units) for row in rows),
        "worst_ratio": _finite(rows[0].ratio),
        "over_the_bar": [row.tried.name for row in rows if row.ratio > BAR],
        "table": [
            {
                "name": row.tried.name,
                "file": row.tried.file,
                "ratio": _finite(row.ratio),
                "ms_at_the_end": row.ms,
                "text": [row.unit.before, row.unit.repeated, row.unit.after],
            }
            for row in rows
        ],
    }


def _finite(ratio: float) -> float | str:
    return ratio if ratio < float("inf") else "took more than a minute for one text"


if __name__ == "__main__":
    main()
