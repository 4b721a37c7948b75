"""Limits the requests of each key: one token bucket a key, in this process."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from taskshield.server.bounded_cache import BoundedCache

_BUCKETS = 10_000
"""Buckets in memory. A key whose bucket was dropped starts with a full one."""


@dataclass(frozen=True, slots=True)
class _Bucket:
    spent: float
    """Seconds of the allowance that are used and not refilled yet."""
    at: float


class RateLimiter:
    """Counts requests by key. Each replica counts its own."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._buckets: BoundedCache[str, _Bucket] = BoundedCache(_BUCKETS)

    def take(self, key: str, per_minute: int) -> int | None:
        """Count one request of a key.

        Returns:
            None where it is allowed, or else in how many seconds to try again.
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
