"""A store in memory is bounded in bytes, not only in rows."""

import asyncio
import sys
from dataclasses import fields, replace
from typing import Any

from taskshield.core import cache_sizes
from taskshield.core.session_parts import PartKey, SessionHead, SessionPart
from taskshield.core.store import StoredSession
from taskshield.stores.memory import MemoryStore
from tests.stores.rows import SESSION, record

KIB = 1024


def head(version: int, *parts: SessionPart, removed: tuple[PartKey, ...] = ()) -> SessionHead:
    """A session's next version, with its new and its removed parts."""
    own: dict[str, Any] = {each.name: getattr(SESSION, each.name) for each in fields(StoredSession)}
    own |= {"version": version, "state": "{}"}
    return SessionHead(**own, parts=parts, removed=removed, whole=version == 1)


def part(position: int, text: str) -> SessionPart:
    return SessionPart(kind="turn", position=position, text=text)


def shown() -> int:
    return cache_sizes.sizes()["memory_store"]


def test_large_records_push_old_ones_out() -> None:
    async def work() -> None:
        store = MemoryStore(most_bytes=200 * KIB)
        for number in range(10):
            row = record(id=f"d{number}", case="x" * 30 * KIB)
            await store.commit(replace(SESSION, version=number + 1), [row])
        kept = [number for number in range(10) if await store.decision(row.tenant, f"d{number}")]
        assert kept == [7, 8, 9]
        await store.commit(replace(SESSION, version=11), [record(id="large", case="x" * 300 * KIB)])
        assert await store.decision(row.tenant, "large") is not None
        assert await store.decision(row.tenant, "d9") is None

    asyncio.run(work())


def test_the_bytes_of_parts_are_those_that_are_there() -> None:
    async def work() -> None:
        before = shown() if "memory_store" in cache_sizes.sizes() else 0
        store = MemoryStore()
        await store.commit(head(1, part(0, "a" * KIB), part(1, "b" * KIB)), [])
        await store.commit(head(2, part(1, "c" * 5 * KIB), part(2, "d")), [])
        await store.commit(head(3, removed=(("turn", 0), ("turn", 9))), [])
        texts = ["{}", *(each.text for each in await store.parts(SESSION.tenant, SESSION.id, 3))]
        assert texts == ["{}", "c" * 5 * KIB, "d"]
        assert shown() - before == sum(map(sys.getsizeof, texts))
        await store.prune(older_than=None, keep=0)
        assert shown() == before

    asyncio.run(work())


def test_old_sessions_go_where_all_are_too_large() -> None:
    async def work() -> None:
        store = MemoryStore(most_bytes=100 * KIB)
        for number in range(5):
            await store.commit(replace(SESSION, id=f"s{number}", state="x" * 20 * KIB), [])
        kept = [n for n in range(5) if await store.session(SESSION.tenant, f"s{n}")]
        assert kept == [3, 4]

    asyncio.run(work())
