"""Whether every pattern and every function over untrusted text takes linear time.

Each pattern is tried on texts made for it, each function on texts that are hard for one of them.
The slowest texts of each are then read at 64 kB and four times at double the size. The bar is a
time ratio of 2.3 for each doubling.
"""

import argparse
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from collected_patterns import patterns
from pattern_texts import GENERIC, Unit, units
from text_functions import FUNCTIONS, UNITS

from taskshield_lab.bench.scripts import results_file
from taskshield_lab.bench.scripts.processor_time import seconds

BAR = 2.3
SIZES = (64_000, 128_000, 256_000, 512_000, 1_024_000)
_SMALL, _GROWTH = 160, 4
_MOST = 8.5
"""Four times the text may take so many times as long: four if linear, sixteen if quadratic."""
_MEASURABLE_S = 0.00025
_TRIES = 4
_SLOWEST = 3
_LONG_ENOUGH_S = 0.02
_MOST_RUNS = 50

Work = Callable[[str], object]


class Row(NamedTuple):
    """One line of the table."""

    name: str
    ratio: float
    """The worst of all doublings."""
    ms: float
    """Milliseconds for the largest size."""
    unit: Unit


def pattern_work(pattern: re.Pattern[Any]) -> Work:
    """Search a text for all matches."""

    def work(text: str) -> None:
        for _ in pattern.finditer(text.encode() if isinstance(pattern.pattern, bytes) else text):
            pass

    return work


def pattern_works(most_units: int | None = None) -> Iterator[tuple[str, Work, Sequence[Unit]]]:
    """Every pattern with the texts that it is tried on."""
    for name, pattern in patterns().items():
        yield name, pattern_work(pattern), _some(units(pattern), most_units)


def function_work(most_units: int | None = None) -> Iterator[tuple[str, Work, Sequence[Unit]]]:
    """Every function with the texts that it is tried on."""
    hard = [
        Unit(before, unit, after)
        for unit in dict.fromkeys((*UNITS, *GENERIC))
        for before, after in (("", ""), ("a\n", "\nx"))
    ]
    for name, work in FUNCTIONS.items():
        yield f"{name}()", work, _some(hard, most_units)


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


def slowest(work: Work, tried: Sequence[Unit]) -> list[Unit]:
    """The texts that take most time for their size."""
    spent = {unit: seconds(work, unit.text(_SMALL * _GROWTH)) for unit in tried}
    return sorted(spent, key=lambda unit: -spent[unit])[:_SLOWEST]


def doubled(work: Work, unit: Unit) -> tuple[float, float]:
    """The worst time ratio of all doublings, and milliseconds for the largest size."""
    worst, before = 0.0, 0.0
    for size in SIZES:
        text = unit.text(size)
        # A size is measured again where another program seems to have slowed it down.
        spent = min(_steady(work, text) for _ in range(2))
        for _ in range(_TRIES):
            if not before or spent <= BAR * before:
                break
            spent = min(spent, _steady(work, text))
        worst = max(worst, spent / before if before else 0.0)
        before = spent
    return worst, before * 1000


def _steady(work: Work, text: str) -> float:
    """Seconds of one run, as the mean of as many as are measurable together."""
    total, runs = 0.0, 0
    while runs < _MOST_RUNS and (runs == 0 or total < _LONG_ENOUGH_S):
        total += seconds(work, text)
        runs += 1
    return total / runs


def table(most_units: int | None) -> list[Row]:
    """The worst text of each pattern and function."""
    rows = []
    for name, work, tried in (*pattern_works(most_units), *function_work(most_units)):
        found = [(doubled(work, unit), unit) for unit in slowest(work, tried)]
        (ratio, ms), unit = max(found, key=lambda one: one[0][0])
        rows.append(Row(name, round(ratio, 2), round(ms, 2), unit))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--units", type=int, help="texts tried for each pattern; all by default")
    options = parser.parse_args()
    rows = sorted(table(options.units), key=lambda row: -row.ratio)
    over = [row.name for row in rows if row.ratio > BAR]
    figures = {
        "sizes": list(SIZES),
        "bar": BAR,
        "patterns": sum(not row.name.endswith("()") for row in rows),
        "functions": sum(row.name.endswith("()") for row in rows),
        "worst_ratio": rows[0].ratio,
        "over_the_bar": over,
        "table": [
            {
                "name": row.name,
                "ratio": row.ratio,
                "ms_at_the_end": row.ms,
                "text": [row.unit.before, row.unit.repeated, row.unit.after],
            }
            for row in rows
        ],
    }
    path = results_file.write("linear_time", figures, inputs=[], folder=results_file.RESULTS)
    for row in rows[:20]:
        print(f"{row.ratio:5.2f} {row.ms:9.1f} ms  {row.name}  {row.unit.repeated[:30]!r}")
    print(f"{len(rows)} rows, {len(over)} over the bar. The table was written to {path.name}.")


if __name__ == "__main__":
    main()
