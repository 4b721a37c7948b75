"""Indexes are bounded in bytes: a few long conversations must not take all memory."""

from taskshield.core import cache_sizes
from taskshield.core.judge import HistoryEntry
from taskshield.core.levels import Level
from taskshield.core.messages import text_message
from taskshield.judges.embedded.evidence.index_cache import IndexCache


def history(name: str, words: int) -> tuple[HistoryEntry, ...]:
    levels = (Level.USER, Level.ASSISTANT, Level.TOOL)
    return tuple(
        HistoryEntry(message=text_message(level, f"{name} " * words), index=number)
        for number, level in enumerate(levels)
    )


def test_the_oldest_indexes_make_room_for_new_ones() -> None:
    cache = IndexCache(most_bytes=100_000)
    for number in range(50):
        said = history(f"word{number}", 50)
        cache.put_back(said, cache.take(said))
        assert 0 < cache.bytes <= 100_000
    assert cache_sizes.sizes()["judge_indexes"] >= cache.bytes


def test_an_index_that_is_too_large_is_not_kept() -> None:
    cache = IndexCache(most_bytes=10_000)
    said = history("word", 1_000)
    cache.put_back(said, cache.take(said))
    assert cache.bytes == 0


def test_bytes_follow_what_is_taken_added_and_dropped() -> None:
    cache = IndexCache()
    said = history("word", 20)
    for shown in (said[:1], said[:2], said, (said[0], said[2]), said[:1]):
        index = cache.take(shown)
        assert index.bytes == sum(500 + 60 * len(turn.message.text) for turn in shown)
        cache.put_back(shown, index)
    index = cache.take(said[:1])
    cache.put_back(said[:1], index)
    cache.put_back(said[:1], index)
    assert cache.bytes <= 3 * 500 + 60 * 3 * 100 * 2
