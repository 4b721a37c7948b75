"""Several processes on one store, and processes that die."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from taskshield.core.store import AuditQuery
from tests.stores.rows import opened

ROOT = Path(__file__).parents[2]


@contextmanager
def writer(url: str, name: str, count: int) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "tests.stores.writer", url, name, str(count)]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def begin(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def numbers(url: str) -> tuple[int, list[int]]:
    """The version of the session, and the numbers of its records."""

    async def body() -> tuple[int, list[int]]:
        async with opened(url) as store:
            found = await store.session("acme", "s1")
            records = await store.search("acme", AuditQuery(), limit=10_000)
            assert found is not None
            return found.version, sorted(each.number for each in records.items)

    return asyncio.run(body())


def test_processes_that_start_at_once_share_an_empty_store_and_each_version_has_one_winner(
    lasting_url: str,
) -> None:
    with ExitStack() as stack:
        writers = [stack.enter_context(writer(lasting_url, name, 25)) for name in "abc"]
        assert [line(process) for process in writers] == ["open"] * 3
        for process in writers:
            begin(process)
        assert all(process.stdout is not None for process in writers)
        written = [int(number) for process in writers for number in process.stdout or ()]
        assert [process.wait() for process in writers] == [0, 0, 0]
    assert sorted(written) == list(range(1, 76))
    assert numbers(lasting_url) == (75, list(range(1, 76)))


def test_a_process_that_is_killed_loses_nothing_that_was_acknowledged(lasting_url: str) -> None:
    with writer(lasting_url, "a", 1_000_000) as process:
        assert line(process) == "open"
        begin(process)
        acknowledged = 0
        while acknowledged < 20:
            acknowledged = int(line(process))
        process.kill()
        process.wait()
        assert process.stdout is not None
        acknowledged = max([acknowledged, *map(int, process.stdout.read().split())])
    version, records = numbers(lasting_url)
    assert version >= acknowledged
    assert records == list(range(1, version + 1))
