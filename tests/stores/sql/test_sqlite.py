"""SQLite's own ways to fail."""

import asyncio
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from taskshield.core.errors import StoreError
from taskshield.core.store import Store
from taskshield.stores.open_store import open_store
from taskshield.stores.sql.sqlite import SqliteDatabase, sqlite_engine
from taskshield.stores.sql.store import SqlStore
from tests.stores.rows import NOW, RECORD, SESSION, opened, record, session

ROOT = Path(__file__).parents[3]
HOLDER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


async def cannot_be_written(store: Store, match: str) -> None:
    with pytest.raises(StoreError, match=match):
        await store.commit(SESSION, [RECORD])
    with pytest.raises(StoreError, match=match):
        await store.ping()


def test_a_file_that_another_process_has_locked(
    path: Path, sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("taskshield.stores.sql.sqlite._BUSY_MS", 20)

    async def body() -> None:
        async with opened(sqlite_url) as store:
            holder = await asyncio.create_subprocess_exec(
                *(sys.executable, "-c", HOLDER, path),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
            )
            assert holder.stdout is not None and await holder.stdout.readline() == b"locked\n"
            await cannot_be_written(store, "another process has locked the file")
            assert await store.session("acme", "s1") is None  # can still be read
            with pytest.raises(StoreError, match="another process has locked the file"):
                await open_store(sqlite_url)
            await holder.communicate(b"\n")
            await store.commit(SESSION, [RECORD])

    asyncio.run(body())


def test_a_full_disk_undoes_the_commit_and_smaller_ones_still_fit(
    path: Path, sqlite_url: str
) -> None:
    def limited(connection: Any, _: object) -> None:
        connection.execute("PRAGMA max_page_count = 100")

    async def body() -> None:
        async with opened(sqlite_url):
            pass
        engine = sqlite_engine(path)
        event.listen(engine, "connect", limited)
        store = SqlStore(SqliteDatabase(path, engine))
        with pytest.raises(StoreError, match="the disk is full"):
            await store.commit(session(state="x" * 1_000_000), [RECORD])
        assert await store.session("acme", "s1") is None
        await store.commit(SESSION, [RECORD])
        await store.aclose()

    asyncio.run(body())


def test_a_removed_file_is_noticed_before_anything_is_acknowledged(
    path: Path, sqlite_url: str
) -> None:
    async def body() -> None:
        async with opened(sqlite_url) as store:
            await store.commit(SESSION, [])
            os.remove(path)
            with pytest.raises(StoreError, match="removed or replaced"):
                await store.commit(session(version=2), [])
            os.close(os.open(path, os.O_CREAT))
            with pytest.raises(StoreError, match="removed or replaced"):
                await store.ping()

    asyncio.run(body())


READ_ONLY = """
import asyncio, os, sys
from taskshield.core.errors import StoreError
from taskshield.stores.open_store import open_store
from tests.stores.rows import SESSION

async def main(spare, url, folder):
    await (await open_store(spare)).aclose()  # loads all that needs to be loaded
    store = await open_store(url)
    await store.commit(SESSION, [])
    await store.aclose()
    for name in os.listdir(folder):
        os.chmod(os.path.join(folder, name), 0o444)
    os.chmod(folder, 0o555)
    if os.geteuid() == 0:
        os.setuid(65534)  # for root nothing is read-only
    for address in (url, url + "-new"):
        try:
            await open_store(address)
        except StoreError as error:
            print(error)

asyncio.run(main(*sys.argv[1:]))
"""


def test_a_read_only_folder(tmp_path: Path) -> None:
    folder = tmp_path / "read-only"
    folder.mkdir()
    for parent in (tmp_path, *tmp_path.parents):
        if parent.stat().st_uid == os.geteuid() and parent != Path("/"):
            parent.chmod(parent.stat().st_mode | 0o055)
    urls = [f"sqlite:///{tmp_path}/spare.db", f"sqlite:///{folder}/store.db"]
    run = subprocess.run(
        [sys.executable, "-c", READ_ONLY, *urls, folder],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.count("cannot be opened") == 2


@pytest.mark.parametrize("name", ["no/such/folder/store.db", "."])
def test_a_path_that_can_hold_no_file(tmp_path: Path, name: str) -> None:
    with pytest.raises(StoreError, match="cannot be opened"):
        asyncio.run(open_store(f"sqlite:///{tmp_path}/{name}"))


def test_a_file_that_is_no_database(path: Path, sqlite_url: str) -> None:
    path.write_text("not a database, but long enough to be taken for one" * 100)
    with pytest.raises(StoreError, match="not a database"):
        asyncio.run(open_store(sqlite_url))


def test_only_the_owner_can_read_the_file(path: Path, sqlite_url: str) -> None:
    async def body() -> None:
        async with opened(sqlite_url) as store:
            await store.commit(SESSION, [])
            for file in path.parent.iterdir():
                assert file.stat().st_mode & 0o077 == 0, file

    asyncio.run(body())


def test_commits_wait_for_the_disk(sqlite_url: str, path: Path) -> None:
    async def body() -> None:
        async with opened(sqlite_url):
            pass

    asyncio.run(body())
    engine = sqlite_engine(path)
    with engine.connect() as connection:
        for pragma, value in {
            "journal_mode": "wal",
            "synchronous": 2,
            "foreign_keys": 1,
            "busy_timeout": 5000,
        }.items():
            assert connection.exec_driver_sql(f"PRAGMA {pragma}").scalar() == value
    engine.dispose()


def test_a_backup_made_while_the_store_is_in_use_is_whole(path: Path, sqlite_url: str) -> None:
    copy = path.with_name("copy.db")

    async def body() -> None:
        async with opened(sqlite_url) as store:
            await store.commit(SESSION, [RECORD])
            with sqlite3.connect(path) as source:
                source.execute("VACUUM INTO ?", (str(copy),))
            source.close()
            await store.commit(session(version=2), [record(id="d2")])
        async with opened(f"sqlite:///{copy}") as store:
            assert await store.session("acme", "s1") == SESSION
            assert await store.decision("acme", "d1") == RECORD
            assert await store.decision("acme", "d2") is None

    asyncio.run(body())


def test_the_file_is_made_once_though_many_make_it_at_the_same_time(sqlite_url: str) -> None:
    async def body() -> None:
        stores = await asyncio.gather(*(open_store(sqlite_url) for _ in range(8)))
        for number, store in enumerate(stores, start=1):
            await store.commit(session(version=number), [])
            await store.aclose()

    asyncio.run(body())


def test_a_time_without_a_zone_is_refused(sqlite_url: str) -> None:
    async def body() -> None:
        async with opened(sqlite_url) as store:
            with pytest.raises(StoreError, match="StatementError"):
                await store.commit(session(updated_at=NOW.replace(tzinfo=None)), [])

    asyncio.run(body())


@pytest.mark.parametrize(
    "damage",
    [
        "state = CAST(x'7bff' AS TEXT)",
        "state = x'7b'",
        "tasks = 'no JSON'",
        "tasks = '7'",
        "updated_at = 'yesterday'",
        "updated_at = 5",
    ],
)
def test_a_value_that_the_disk_has_changed_is_an_error_of_the_store(
    damage: str, path: Path, sqlite_url: str
) -> None:
    async def body() -> None:
        async with opened(sqlite_url) as store:
            await store.commit(SESSION, [RECORD])
            with closing(sqlite3.connect(path)) as file, file:
                file.execute(f"UPDATE taskshield_sessions SET {damage}")
            with pytest.raises(StoreError, match="db check") as failed:
                await store.session(SESSION.tenant, SESSION.id)
            assert failed.value.state is None
            await store.ping()  # other sessions can be used
            assert await store.decision(RECORD.tenant, RECORD.id) == RECORD

    asyncio.run(body())
