import gc

from taskshield.core import cache_sizes


class Cache:
    size = 7


def test_caches_of_a_name_are_added_up_as_long_as_they_exist() -> None:
    caches = [Cache(), Cache()]
    for cache in caches:
        cache_sizes.report("test_cache", cache, lambda cache: cache.size)
    assert cache_sizes.sizes()["test_cache"] == 14
    del cache
    caches.pop()
    gc.collect()
    assert cache_sizes.sizes()["test_cache"] == 7
    caches.clear()
    gc.collect()
    assert "test_cache" not in cache_sizes.sizes()
