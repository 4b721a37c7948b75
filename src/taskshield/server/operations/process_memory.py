"""Keeps a serving process small and its pauses short, while large requests come and go.

Python's collector looks at every container there is when it collects the oldest generation, and no
request gets a turn meanwhile. By itself it does so whenever a large request has made many objects,
most of which are soon gone without it. Here it does so once memory has grown, and now and then.
What is freed goes back to the system. glibc would keep a heap for each thread, full of gaps.
"""

import asyncio
import ctypes
import gc
import sys
import time
from contextlib import suppress
from pathlib import Path

_TURN_S = 0.001
"""How long a thread computes before another one gets a turn; Python's own 5 ms add up to waits."""
_NEVER = 1 << 30
"""Collections of younger generations until the oldest is collected by itself."""
_PAUSE_S = 1.0
"""Between two looks at the size of the process."""
_PERIOD = 30
"""Looks until the oldest generation is collected, whether memory has grown or not."""
_GROWTH, _SOON = 64 * 1024 * 1024, 5
"""Bytes of growth after which fewer looks are enough."""
_SPARED = 100
"""Looks for each second that the last collection took: large requests may be under way."""
_ARENAS, _MAPPED = (-8, 2), (-3, 256 * 1024)
"""For glibc: heaps at most, and bytes from which a block has pages of its own. See mallopt(3)."""
_NO_GLIBC = (OSError, AttributeError, TypeError)
"""Errors of systems with another C library: it has no such function, or cannot be asked."""
_STATM = Path("/proc/self/statm")
_PAGE = 4096


def prepare() -> None:
    """Set up this process for serving. To be called before other threads start."""
    sys.setswitchinterval(_TURN_S)
    first, second, _ = gc.get_threshold()
    gc.set_threshold(first, second, _NEVER)
    with suppress(*_NO_GLIBC):
        libc = ctypes.CDLL(None)
        for name, value in (_ARENAS, _MAPPED):
            libc.mallopt(name, value)


def settle() -> None:
    """Take what exists now out of all later collections: it stays as long as the process."""
    gc.collect()
    gc.freeze()


async def keep_small() -> None:
    """Collect garbage and give memory back, as long as the process serves."""
    smallest, looks, took = resident_bytes(), 0, 0.0
    while True:
        await asyncio.sleep(_PAUSE_S)
        looks += 1
        now = resident_bytes()
        smallest = min(smallest, now)
        fewest = _SOON if now - smallest > _GROWTH else _PERIOD
        if looks >= max(fewest, took * _SPARED):
            began = time.perf_counter()
            gc.collect()
            took = time.perf_counter() - began
            await asyncio.to_thread(give_back)
            smallest, looks = resident_bytes(), 0


def give_back() -> None:
    """Give freed memory back to the system. The interpreter is free for others meanwhile."""
    with suppress(*_NO_GLIBC):
        ctypes.CDLL(None).malloc_trim(0)


def resident_bytes() -> int:
    """Bytes of memory that this process takes; 0 where the system does not say."""
    try:
        return int(_STATM.read_text().split()[1]) * _PAGE
    except OSError:
        return 0
