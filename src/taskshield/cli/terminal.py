"""Reports, progress and errors on the terminal."""

import argparse
import io
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console, RenderableType
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from taskshield.core.safe_text import one_line

_WIDEST = 120
"""Longer lines are hard to read."""
_FEW = 5
"""No progress bar for so few messages."""
_ERROR_LENGTH = 2_000
_TRAILING = re.compile(r"(?<! ) +$", re.MULTILINE)


class Advance(Protocol):
    """Moves a progress bar on by one step."""

    def __call__(self, done: object, /) -> None:
        """Count one more step; `done` is ignored."""


def add_color(parser: "argparse._ActionsContainer") -> None:
    """Add the option that turns colours off."""
    parser.add_argument(
        "--no-color", dest="color", action="store_false", help="print plain text (also: NO_COLOR)"
    )


def output(*, color: bool) -> Console:
    """The standard output. Without colour there is not a single escape sequence."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A letter that the encoding lacks is escaped: better than an error and no report.
        sys.stdout.reconfigure(errors="backslashreplace")
    plain = not color or bool(os.environ.get("NO_COLOR"))
    console = Console(
        color_system=None if plain else "auto", markup=False, emoji=False, highlight=False
    )
    console.width = min(console.width, _WIDEST)
    return console


def show(console: Console, renderable: RenderableType) -> None:
    """Print it, without the blanks that rich adds at the ends of lines."""
    with console.capture() as captured:
        console.print(renderable)
    console.file.write(_TRAILING.sub("", captured.get()))


def complain(message: str) -> None:
    """Write an error as one line to the standard error output."""
    remark(f"error: {message}")


def remark(message: str) -> None:
    """Write one line about the command's work to the standard error output."""
    # Python itself escapes letters that the encoding of the standard error output lacks.
    print(f"taskshield: {one_line(message.replace(chr(10), '; '), _ERROR_LENGTH)}", file=sys.stderr)


@contextmanager
def progress(total: int, *, label: str = "judging") -> Iterator[Advance]:
    """A progress bar on the standard error output, if that is a terminal."""
    # rich would also show it with FORCE_COLOR, and so in the logs of a CI job.
    wanted = total > _FEW and sys.stderr is not None and sys.stderr.isatty()
    columns = (
        TextColumn(label),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not wanted) as bar:
        task = bar.add_task(label, total=total)
        yield lambda done: bar.advance(task)
