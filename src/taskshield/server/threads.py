"""Work on large requests, done in threads so that it does not keep other requests waiting.

Only for work that ends soon by itself: a thread cannot be stopped.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar

T = TypeVar("T")

_SMALL = 32 * 1024
"""Work on as many bytes or characters takes a few milliseconds. A thread would take longer."""
_THREADS = ThreadPoolExecutor(2, "taskshield-large")
"""Few, because they compete for one interpreter: with the loop, too."""


async def off_loop(size: int, work: Callable[[], T]) -> T:
    """Do some work: at once where its input is small, otherwise in a thread."""
    if size <= _SMALL:
        return work()
    running = asyncio.get_running_loop().run_in_executor(_THREADS, copy_context().run, work)
    return await running
