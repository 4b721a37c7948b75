"""Whether work takes time in proportion to its size: by a ratio, not by the clock on the wall."""

import time
from collections.abc import Callable

_SMALL, _LARGE = 20_000, 160_000
_MOST = 24.0
"""Eight times the text may take so many times as long: eight if linear, sixty-four if quadratic."""
_NOISE_S = 0.005
_TRIES = 3


def is_linear(work: Callable[[str], object], unit: str) -> bool:
    """Whether eight times the text takes about eight times the processor's time.

    A machine that is busy elsewhere gets another try, with a text that it has not read.
    """
    return any(_grows_alike(work, unit, more) for more in range(_TRIES))


def _grows_alike(work: Callable[[str], object], unit: str, more: int) -> bool:
    small, large = (_spent(work, unit * (size // len(unit) + more)) for size in (_SMALL, _LARGE))
    return large <= _MOST * max(small, _NOISE_S)


def _spent(work: Callable[[str], object], text: str) -> float:
    began = time.process_time()  # once: what is read again may be remembered
    work(text)
    return time.process_time() - began
