"""Who waits for whom at an SQLite file: writers, readers, those who are cancelled, who closes."""

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from sqlalchemy import Connection, text

from taskshield.core.errors import StoreConflict, StoreError
from taskshield.stores.open_store import open_store
from taskshield.stores.sql.sqlite import SqliteDatabase, sqlite_engine
from taskshield.stores.sql.store import SqlStore
from tests.stores.rows import RECORD, SESSION, opened, session

SOON_S = 10.0
"""What takes longer than this hangs."""


@asynccontextmanager
async def database(path: Path) -> AsyncIterator[SqliteDatabase]:
    await (await open_store(f"sqlite:///{path}")).aclose()
    found = SqliteDatabase(path, sqlite_engine(path))
    try:
        await found.write(lambda connection: connection.execute(text("CREATE TABLE seen (n)")))
        yield found
    finally:
        await found.aclose()


class Slow:
    """Writes a number, and then lets others wait."""

    def __init__(self) -> None:
        self._begun = threading.Event()
        self._end = threading.Event()

    def __call__(self, connection: Connection) -> None:
        note(0)(connection)
        self._begun.set()
        assert self._end.wait(SOON_S)

    async def begun(self) -> None:
        assert await asyncio.to_thread(self._begun.wait, SOON_S)

    def end(self) -> None:
        self._end.set()


async def begun(file: SqliteDatabase) -> tuple[Slow, "asyncio.Task[None]"]:
    """A slow write that has begun."""
    slow = Slow()
    writing = asyncio.create_task(file.write(slow))
    await slow.begun()
    return slow, writing


def note(number: int) -> Callable[[Connection], object]:
    return lambda connection: connection.execute(text(f"INSERT INTO seen VALUES ({number})"))


def seen(connection: Connection) -> list[int]:
    return list(connection.scalars(text("SELECT n FROM seen ORDER BY rowid")))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


def test_those_who_ask_first_write_first(path: Path) -> None:
    async def body() -> None:
        async with database(path) as file:
            slow, first = await begun(file)
            others = [asyncio.create_task(file.write(note(number))) for number in range(1, 30)]
            await asyncio.sleep(0)
            slow.end()
            await asyncio.gather(first, *others)
            assert await file.read(seen) == list(range(30))

    asyncio.run(body())


def test_reading_does_not_wait_for_a_write_and_sees_nothing_of_it(path: Path) -> None:
    async def body() -> None:
        async with database(path) as file:
            await file.write(note(7))
            slow, writing = await begun(file)
            async with asyncio.timeout(SOON_S):
                found = await asyncio.gather(*(file.read(seen) for _ in range(20)))
            assert found == [[7]] * 20
            slow.end()
            await writing
            assert await file.read(seen) == [7, 0]

    asyncio.run(body())


def test_a_write_that_was_begun_ends_before_its_cancelled_caller_gets_away(path: Path) -> None:
    async def body() -> None:
        async with database(path) as file:
            slow, writing = await begun(file)
            writing.cancel()
            assert not (await asyncio.wait([writing], timeout=0.05))[0]
            slow.end()
            with pytest.raises(asyncio.CancelledError):
                await writing
            assert await file.read(seen) == [0]

    asyncio.run(body())


def test_a_caller_that_is_cancelled_twice_waits_no_longer(path: Path) -> None:
    async def body() -> None:
        async with database(path) as file:
            slow, writing = await begun(file)
            for _ in range(2):
                writing.cancel()
                await asyncio.sleep(0.01)
            assert writing.cancelled()
            slow.end()
            await file.write(note(1))
            assert await file.read(seen) == [0, 1]

    asyncio.run(body())


def test_a_write_that_fails_after_its_caller_was_cancelled_is_undone(path: Path) -> None:
    async def body() -> None:
        async with database(path) as file:
            slow = Slow()

            def failing(connection: Connection) -> None:
                slow(connection)
                raise StoreConflict("too late")

            writing = asyncio.create_task(file.write(failing))
            await slow.begun()
            writing.cancel()
            await asyncio.sleep(0)
            slow.end()
            with pytest.raises(asyncio.CancelledError):
                await writing
            assert await file.read(seen) == []

    asyncio.run(body())


def test_a_write_that_waits_for_its_turn_is_not_begun_once_its_caller_is_cancelled(
    path: Path,
) -> None:
    async def body() -> None:
        async with database(path) as file:
            slow, first = await begun(file)
            waiting = asyncio.create_task(file.write(note(1)))
            await asyncio.sleep(0)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting  # though nothing has ended yet
            slow.end()
            await first
            assert await file.read(seen) == [0]

    asyncio.run(body())


def test_closing_waits_for_what_was_begun_and_leaves_no_thread_and_no_file_open(
    path: Path,
) -> None:
    async def body() -> None:
        async with database(path) as file:
            await asyncio.gather(*(file.read(seen) for _ in range(20)))
            slow, writing = await begun(file)
            closing = asyncio.create_task(file.aclose())
            assert not (await asyncio.wait([closing], timeout=0.05))[0]
            slow.end()
            await closing
            await writing

    before = threads()  # those of stores that other tests have open
    asyncio.run(body())
    assert threads() <= before
    assert [each.name for each in path.parent.iterdir()] == ["store.db"]  # the last one tidies up
    assert not [each for each in Path("/proc/self/fd").iterdir() if opens(each, path)]


def threads() -> set[threading.Thread]:
    ours = ("taskshield-reader", "taskshield-writer")
    return {each for each in threading.enumerate() if each.name.startswith(ours)}


def opens(descriptor: Path, path: Path) -> bool:
    try:
        return str(descriptor.readlink()).startswith(str(path))
    except OSError:  # that of the folder itself
        return False


def test_a_store_that_was_closed_says_so(path: Path) -> None:
    async def body() -> None:
        async with opened(f"sqlite:///{path}") as store:
            pass
        with pytest.raises(StoreError, match="it was closed"):
            await store.session("acme", "s1")
        with pytest.raises(StoreError, match="it was closed"):
            await store.commit(SESSION, [])
        await store.aclose()

    asyncio.run(body())


def test_a_store_outlives_its_event_loop(path: Path) -> None:
    store = asyncio.run(open_store(f"sqlite:///{path}"))
    asyncio.run(store.commit(SESSION, [RECORD]))
    assert asyncio.run(store.session("acme", "s1")) == SESSION
    asyncio.run(store.aclose())


def test_a_file_that_is_replaced_while_a_write_waits_for_its_turn(path: Path) -> None:
    async def body() -> None:
        async with database(path) as file:
            slow, first = await begun(file)
            second = asyncio.create_task(SqlStore(file).commit(session(), []))
            await asyncio.sleep(0)
            os.remove(path)
            slow.end()
            await first
            with pytest.raises(StoreError, match="removed or replaced"):
                await second

    asyncio.run(body())
