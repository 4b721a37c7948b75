"""Shows results: tables on the terminal, figures in a file."""

import json
import platform
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from taskshield.cli import terminal

if TYPE_CHECKING:
    from taskshield_lab.bench.record_files import Archive
    from taskshield_lab.bench.report.entries import Entry

_RATE = re.compile(r'\{\s+"hits"[^}]*\}')
"""A share and its interval, to be written on one line."""


def read(paths: Sequence[Path]) -> "list[Entry]":
    """The entries of some files of records.

    Raises:
        WireFormatError: A file is damaged.
    """
    from taskshield_lab.bench import record_files
    from taskshield_lab.bench.report.entries import entries

    return entries((each.header, each.runs) for each in map(record_files.read, paths))


def show(entries: "Sequence[Entry]", *, color: bool, paper: bool) -> None:
    """Print the tables, on request with the paper's tables."""
    from taskshield_lab.bench.report import paper_comparison, paper_figures, tables

    console = terminal.output(color=color)
    grids = [tables.suite_results(entries), tables.cost(entries), tables.replays(entries)]
    if paper:
        grids += [paper_comparison.paper(number, entries) for number in paper_figures.TABLES]
    for grid in grids:
        if grid is not None:
            terminal.show(console, grid)
            console.file.write("\n")


def commands(paths: Sequence[Path]) -> list[str]:
    """The commands that made some files of records, if the figures beside them name them."""
    found = []
    for path in paths:
        try:
            figures = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
            found += [*map(str, figures["earlier_commands"]), str(figures["command"])]
        except (OSError, ValueError, LookupError, TypeError):
            continue  # the figures were moved, edited or never written
    return found


def write_figures(
    found: "Archive", path: Path, *, command: str, resumed: bool, left_out: int
) -> None:
    """Write the figures of a file of records down, with what is needed to repeat them.

    Args:
        found: What the file holds.
        path: Where to write to.
        command: The command line.
        resumed: Whether earlier commands made some of the records.
        left_out: Number of attacks that do not apply to their task.
    """
    from taskshield_lab.bench.report.summary import summary

    earlier = [each for each in commands([path.with_suffix(".jsonl")]) if each != command]
    figures = {
        "command": command,
        "earlier_commands": earlier if resumed else [],
        "date": datetime.now(UTC).date().isoformat(),
        "python": platform.python_version(),
        **summary(found.header, found.runs),
        "left_out": left_out,
    }
    text = _RATE.sub(lambda rate: " ".join(rate[0].split()), json.dumps(figures, indent=2))
    path.write_text(f"{text}\n", encoding="utf-8")
