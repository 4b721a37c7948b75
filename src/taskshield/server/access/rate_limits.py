"""How many requests a key may make: one token bucket for each, in this process."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from taskshield.server.bounded_cache import BoundedCache

_KEPT = 10_000
"""Buckets that are kept; one that was forgotten is full again."""


@dataclass(frozen=True, slots=True)
class _Bucket:
    spent: float
    """Seconds of the allowance that were spent and have not come back yet."""
    at: float


class Rates:
    """Counts requests by key. With several replicas, each counts for itself."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._buckets: BoundedCache[str, _Bucket] = BoundedCache(_KEPT)

    def take(self, key: str, per_minute: int) -> int | None:
        """Take one request from a key's allowance.

        Returns:
            None, or in how many seconds to try again.
        """
        now = self._clock()
        each = 60 / per_minute
        last = self._buckets.get(key)
        spent = 0.0 if last is None else max(0.0, last.spent - (now - last.at))
        over = round(spent + each - 60, 6)
        if over > 0:
            return math.ceil(over)
        self._buckets.put(key, _Bucket(spent + each, now))
        return None
