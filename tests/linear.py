"""Whether work takes time in proportion to its size: by a ratio, never by a limit in seconds."""

from collections.abc import Callable

from taskshield_lab.bench.scripts.processor_time import seconds

_SMALLEST, _LARGEST = 5_000, 1_280_000
_GROWTH = 4
_MOST = 9.0
"""Four times the text may take so many times as long: four if linear, sixteen if quadratic."""
_MEASURABLE_S = 0.02
_TRIES = 3

_AROUND = (("", ""), ("a\n", "\nx"), ("a", "x"))
"""What stands before and after the repeated part. A pattern that matches the whole text at once may
be slow only where something follows that it does not match."""


def is_linear(work: Callable[[str], object], unit: str) -> bool:
    """Whether work on `unit`, many times over, takes time in proportion to its length.

    The text grows until its time can be measured, so work that is quick on small texts and
    quadratic is found, too. A machine that is busy elsewhere gets another try.
    """
    return all(_is_linear(work, unit, before, after) for before, after in _AROUND)


def _is_linear(work: Callable[[str], object], unit: str, before: str, after: str) -> bool:
    def spent(size: int) -> float:
        return seconds(work, f"{before}{unit * (size // len(unit) + 1)}{after}")

    size = _SMALLEST
    while (small := spent(size)) < _MEASURABLE_S:
        if size >= _LARGEST:
            return True
        size *= _GROWTH
    # Each try reads texts of other lengths: what is read again may be remembered.
    return any(
        spent(_GROWTH * size + more) <= _MOST * max(small, spent(size + more))
        for more in range(len(unit), (_TRIES + 1) * len(unit), len(unit))
    )
