"""What was used last, kept at hand; and locks that live as long as somebody holds them."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar
from weakref import WeakValueDictionary

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class BoundedCache(Generic[K, V]):
    """A bounded mapping that forgets what was used longest ago."""

    def __init__(
        self, kept: int, *, weigh: Callable[[V], int] = lambda value: 0, together: int = 0
    ) -> None:
        """Keep nothing yet.

        Args:
            kept: How many items are kept at most.
            weigh: What an item weighs, always the same.
            together: What all items may weigh together; a single one may weigh more.
        """
        self._kept = kept
        self._weigh = weigh
        self._together = together
        self._weight = 0
        self._items: OrderedDict[K, V] = OrderedDict()

    def get(self, key: K) -> V | None:
        """What is kept under this key."""
        if key not in self._items:
            return None
        self._items.move_to_end(key)
        return self._items[key]

    def put(self, key: K, value: V) -> None:
        """Keep this, at the cost of what was used longest ago."""
        if key in self._items:
            self._weight -= self._weigh(self._items.pop(key))
        self._items[key] = value
        self._weight += self._weigh(value)
        while len(self._items) > 1 and self._is_full():
            _, forgotten = self._items.popitem(last=False)
            self._weight -= self._weigh(forgotten)

    def _is_full(self) -> bool:
        return len(self._items) > self._kept or self._weight > self._together


class KeyedLocks:
    """One lock for each key."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()

    def of(self, tenant: str, name: str) -> asyncio.Lock:
        """The lock of this key; two callers get the same one."""
        lock = self._locks.get((tenant, name))
        if lock is None:
            lock = self._locks[tenant, name] = asyncio.Lock()
        return lock
