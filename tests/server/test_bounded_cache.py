from hypothesis import given
from hypothesis import strategies as st

from taskshield.server.bounded_cache import BoundedCache, KeyedLocks


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 9)), max_size=40))
def test_the_cache_keeps_what_was_used_last_within_its_limits(steps: list[tuple[int, int]]) -> None:
    recent: BoundedCache[int, int] = BoundedCache(3, weigh=lambda value: value, most_weight=12)
    used: list[tuple[int, int]] = []  # newest last
    for key, value in steps:
        recent.put(key, value)
        used = [item for item in used if item[0] != key] + [(key, value)]
        while len(used) > 1 and (len(used) > 3 or sum(each for _, each in used) > 12):
            used.pop(0)
        assert {key: recent.get(key) for key in range(6)} == {
            **dict.fromkeys(range(6)),
            **dict(used),
        }
        for key, _ in used:
            recent.get(key)  # as they were used before


def test_callers_of_the_same_key_get_the_same_lock() -> None:
    locks = KeyedLocks()
    first = locks.of("tenant", "a")
    assert locks.of("tenant", "a") is first
    assert locks.of("tenant", "b") is not first
    assert locks.of("other", "a") is not first


def test_a_cache_knows_its_weight() -> None:
    recent: BoundedCache[str, int] = BoundedCache(2, weigh=lambda value: value, most_weight=10)
    for key, value in (("a", 3), ("b", 4), ("a", 5), ("c", 6)):
        recent.put(key, value)
    assert recent.weight == 6
