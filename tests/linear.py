"""Whether work takes time in proportion to its size: by a ratio, not by the clock on the wall."""

import time
from collections.abc import Callable

_SMALL, _LARGE = 20_000, 160_000
_MOST = 24.0
"""Eight times the text may take so many times as long: eight if linear, sixty-four if quadratic."""
_NOISE_S = 0.005


def is_linear(work: Callable[[str], object], unit: str) -> bool:
    """Whether eight times the text takes about eight times the processor's time."""
    small, large = (_spent(work, unit * (size // len(unit))) for size in (_SMALL, _LARGE))
    return large <= _MOST * max(small, _NOISE_S)


def _spent(work: Callable[[str], object], text: str) -> float:
    began = time.process_time()  # once: what is read again may be remembered
    work(text)
    return time.process_time() - began
