"""Whether work takes time in proportion to its size: by a ratio, not by the clock on the wall."""

import time
from collections.abc import Callable

_SMALL, _LARGE = 250_000, 1_000_000
_MOST = 9.0
"""Four times the text may take so many times as long: four if linear, sixteen if quadratic."""
_NOISE_S = 0.02


def is_linear(work: Callable[[str], object], unit: str) -> bool:
    """Whether four times the text takes about four times the processor's time."""
    small, large = (_spent(work, unit * (size // len(unit))) for size in (_SMALL, _LARGE))
    return large <= _MOST * max(small, _NOISE_S)


def _spent(work: Callable[[str], object], text: str) -> float:
    began = time.process_time()
    work(text)
    return time.process_time() - began
