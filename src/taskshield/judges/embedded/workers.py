"""Threads in which texts are read, so that the event loop is free meanwhile."""

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar

T = TypeVar("T")

_LONG = 50_000
"""Characters from which on a text is long. Long ones wait for each other, a few at a time; short
ones never wait for them."""


class Workers:
    """Two kinds of threads: for short texts and for long ones."""

    def __init__(self) -> None:
        few = max(1, (os.cpu_count() or 1) // 2)
        self._for_long = ThreadPoolExecutor(few, "taskshield-long")

    async def run(self, size: int, work: Callable[[], T]) -> T:
        """Do some work on texts of this size. It has the deadline of the caller."""
        if size < _LONG:
            return await asyncio.to_thread(work)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._for_long, copy_context().run, work)
