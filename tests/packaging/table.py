"""The table of extras and Pythons that a run of the tests prints at its end.

Each test of a cell leaves a `Cell` with its report, also where another process ran it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import pytest

from tests.packaging.environments import PYTHONS, found_pythons

PROPERTY = "cell of the matrix"


@dataclass(frozen=True, kw_only=True)
class Cell:
    """What ran for one extra on one Python."""

    extra: str
    column: str
    promises: str
    """Names of what ran, separated by spaces."""
    install_s: float = 0.0
    run_s: float = 0.0
    processor_s: float = 0.0


def leave(request: pytest.FixtureRequest, cell: Cell) -> None:
    """Add a cell to the report of this test."""
    request.node.user_properties.append((PROPERTY, asdict(cell)))


def lines(reports: Iterable[Any]) -> Iterator[str]:
    """The table: an extra in each row, a Python in each column; then what each row ran."""
    cells = [
        (Cell(**kept), report.outcome)
        for report in reports
        if getattr(report, "when", "") == "call"
        for name, kept in report.user_properties
        if name == PROPERTY
    ]
    if not cells:
        return
    found = {(cell.extra, cell.column): _shown(cell, outcome) for cell, outcome in cells}
    columns = sorted({column for _, column in found}, key=_in_order)
    extras = list(dict.fromkeys(cell.extra for cell, _ in sorted(cells, key=lambda c: c[0].extra)))
    yield f"{'':15}" + "".join(f"{column:>24}" for column in columns)
    for extra in extras:
        yield f"{extra:15}" + "".join(f"{found.get((extra, each), '-'):>24}" for each in columns)
    failed = sum(outcome != "passed" for _, outcome in cells)
    yield f"{len(cells)} cells, {failed} red; seconds to install + to run"
    total = sum(cell.install_s + cell.run_s for cell, _ in cells)
    processor = sum(cell.processor_s for cell, _ in cells)
    yield f"all cells: {total:.0f} s one after the other, {processor:.0f} s of processor time"
    for version in sorted(set(PYTHONS) - set(found_pythons())):
        yield f"Python {version} is not on this machine"
    yield "what ran:"
    for extra in extras:
        for promises in dict.fromkeys(cell.promises for cell, _ in cells if cell.extra == extra):
            where = [
                cell.column for cell, _ in cells if (cell.extra, cell.promises) == (extra, promises)
            ]
            yield f"  {extra:15}{promises} ({', '.join(sorted(where, key=_in_order))})"


def _shown(cell: Cell, outcome: str) -> str:
    times = f"{cell.install_s:.1f} + {cell.run_s:.1f} s"
    return f"{'green' if outcome == 'passed' else 'RED'} {times}"


def _in_order(column: str) -> tuple[bool, str]:
    return "lowest" not in column, column
