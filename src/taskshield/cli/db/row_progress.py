"""How far a command is that goes through the rows of all tables."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console

_EVERY_S = 0.2


@contextmanager
def row_progress(label: str) -> Iterator[Callable[[str, int], None]]:
    """A line on the terminal, where there is one, that says which row of which table is next."""
    console = Console(stderr=True)
    wanted = sys.stderr is not None and sys.stderr.isatty()
    last = 0.0

    with console.status(label) as status:
        if not wanted:
            status.stop()

        def show(table: str, rows: int) -> None:
            nonlocal last
            now = time.monotonic()
            if wanted and now - last > _EVERY_S:
                last = now
                status.update(f"{label} {table}: {rows} rows")

        yield show
