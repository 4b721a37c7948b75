"""How many bytes the caches of this process hold, by name.

Judges report their caches here, because a server knows nothing of a judge but its answers. Sizes
are estimates: what Python needs for a text depends on its letters.
"""

from collections.abc import Callable, Mapping
from typing import TypeVar
from weakref import WeakKeyDictionary, ref

T = TypeVar("T")

_reported: "WeakKeyDictionary[object, tuple[str, Callable[[], int]]]" = WeakKeyDictionary()


def report(name: str, cache: T, size: Callable[[T], int]) -> None:
    """Report a cache as long as it exists.

    Args:
        name: One word for the kind of cache; caches of one name are added up.
        cache: The cache.
        size: Its bytes now.
    """
    known = ref(cache)

    def measured() -> int:
        alive = known()
        return 0 if alive is None else size(alive)

    _reported[cache] = (name, measured)


def sizes() -> Mapping[str, int]:
    """Bytes of all caches now, by name."""
    found: dict[str, int] = {}
    for name, size in list(_reported.values()):
        found[name] = found.get(name, 0) + size()
    return found
