"""Limits requests by key, and wrong keys by address: a token bucket for each, in this process."""

import ipaddress
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
        wait = self.wait(key, per_minute)
        if wait is None:
            self._buckets.put(key, _Bucket(self._spent(key) + 60 / per_minute, self._clock()))
        return wait

    def wait(self, key: str, per_minute: int) -> int | None:
        """What `take` would return. Counts nothing."""
        over = round(self._spent(key) + 60 / per_minute - 60, 6)
        return math.ceil(over) if over > 0 else None

    def _spent(self, key: str) -> float:
        last = self._buckets.get(key)
        return 0.0 if last is None else max(0.0, last.spent - (self._clock() - last.at))


def sender(host: str) -> str:
    """Who counts as one sender: an address, or the network of an IPv6 address."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    mapped = address.ipv4_mapped
    return str(ipaddress.ip_network((address, 64), strict=False)) if mapped is None else str(mapped)
