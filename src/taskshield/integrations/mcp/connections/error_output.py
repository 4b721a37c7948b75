"""What a wrapped server writes to its standard error: passed on, made safe and not without end.

A thread reads it, so that a reader of the gateway's own standard error who does not read holds up
only that server.
"""

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

from taskshield.core.safe_text import one_line
from taskshield.integrations.mcp.connections.lines import Lines

_LONGEST = 4_096
"""Longest line that is shown."""
_PER_SECOND = 200
"""Most lines that are shown in one second."""
_OURS = "taskshield:"
"""What the gateway's own lines begin with."""


@contextmanager
def error_output() -> Iterator[TextIO]:
    """A file for the standard error of one process."""
    read_end, write_end = os.pipe()
    threading.Thread(target=_pass_on, args=(read_end,), daemon=True).start()
    with os.fdopen(write_end, "w") as file:
        yield file


def _pass_on(read_end: int) -> None:
    lines = Lines(_LONGEST)
    second, shown = 0, 0
    with suppress(OSError, ValueError), os.fdopen(read_end, "rb", buffering=0) as given:
        while chunk := given.read(65_536):
            for line, _ in lines.add(chunk):
                now = int(time.monotonic())
                second, shown = (second, shown + 1) if now == second else (now, 1)
                if shown <= _PER_SECOND:
                    print(_safe(line), file=sys.stderr, flush=True)
                elif shown == _PER_SECOND + 1:
                    print("(left out: output of the wrapped server)", file=sys.stderr, flush=True)


def _safe(line: bytes) -> str:
    text = one_line(line.decode("utf-8", "replace"), _LONGEST)
    return f"| {text}" if text.startswith(_OURS) else text
