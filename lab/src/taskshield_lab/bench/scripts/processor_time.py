"""Measures the processor time of work on a text."""

import gc
import time
from collections.abc import Callable


def seconds(work: Callable[[str], object], text: str) -> float:
    """Processor time for one text."""
    gc.disable()  # it looks at all objects of the process, not at those of the work
    try:
        began = time.thread_time()
        work(text)
        return time.thread_time() - began
    finally:
        gc.enable()
