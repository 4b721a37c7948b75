"""Garbage is collected and memory given back without long pauses."""

import asyncio
import ctypes
import gc
import sys
from pathlib import Path

import pytest

from taskshield.server.operations import process_memory

MIB = 1024 * 1024


class _EnoughSeen(Exception):
    """The test has seen what it looked for."""


def test_nothing_collects_the_oldest_generation_by_count(monkeypatch: pytest.MonkeyPatch) -> None:
    interval, thresholds = sys.getswitchinterval(), gc.get_threshold()
    monkeypatch.setattr(ctypes, "CDLL", lambda name: None)
    try:
        process_memory.prepare()
        assert sys.getswitchinterval() < interval
        assert gc.get_threshold()[:2] == thresholds[:2]
        assert gc.get_threshold()[2] > 1_000_000
    finally:
        sys.setswitchinterval(interval)
        gc.set_threshold(*thresholds)


@pytest.mark.parametrize(
    ("sizes", "looks"), [([100] * 20, 30), ([100, 200, 300, 300, 300, 300], 5)]
)
def test_garbage_is_collected_now_and_then_and_sooner_where_memory_grew(
    monkeypatch: pytest.MonkeyPatch, sizes: list[int], looks: int
) -> None:
    done: list[str] = []
    left = [*sizes, *[sizes[-1]] * 100]
    looked = 0

    async def look(seconds: float) -> None:
        nonlocal looked
        if done:
            raise _EnoughSeen
        looked += 1

    monkeypatch.setattr(process_memory, "resident_bytes", lambda: left.pop(0) * MIB)
    monkeypatch.setattr(asyncio, "sleep", look)
    monkeypatch.setattr(gc, "collect", lambda: done.append("collected"))
    monkeypatch.setattr(process_memory, "give_back", lambda: done.append("gave back"))
    with pytest.raises(_EnoughSeen):
        asyncio.run(process_memory.keep_small())
    assert (done, looked) == (["collected", "gave back"], looks)


def test_memory_can_be_given_back_on_any_system(monkeypatch: pytest.MonkeyPatch) -> None:
    process_memory.give_back()
    monkeypatch.setattr(ctypes, "CDLL", lambda name: None)  # no glibc
    process_memory.give_back()
    monkeypatch.setattr(process_memory, "_STATM", Path("/nowhere"))
    assert process_memory.resident_bytes() == 0
