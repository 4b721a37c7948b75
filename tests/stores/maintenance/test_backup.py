"""Backups between all kinds of databases, and files that are none."""

import asyncio
import gzip
import json
import os
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from taskshield.core.errors import ConfigError, StoreError, TaskShieldError, WireFormatError
from taskshield.stores.maintenance import backup_file
from taskshield.stores.maintenance.backup import back_up, restore
from taskshield.stores.maintenance.connections import write_new_store
from taskshield.stores.open_store import open_store
from taskshield.stores.sql.migrate import make_tables
from tests.stores.maintenance.filled import fill, rows_of
from tests.stores.postgres_server import PostgresServer
from tests.stores.rows import RECORD, opened, session


def silent(table: str, rows: int) -> None:
    pass


@pytest.fixture
def saved(tmp_path: Path, sqlite_url: str) -> Path:
    """A backup of a filled store."""
    fill(sqlite_url)
    back_up(sqlite_url, tmp_path / "saved", silent)
    return tmp_path / "saved"


@pytest.fixture
def empty_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/restored.db"


@pytest.mark.parametrize("level", ["0002", "0003"])
def test_a_backup_goes_from_each_database_to_the_other_and_back(
    level: str, tmp_path: Path, sqlite_url: str, postgres: PostgresServer, empty_url: str
) -> None:
    fill(sqlite_url, level)
    there = postgres.new_url()
    back_up(sqlite_url, tmp_path / "first", silent)
    copied = restore(there, tmp_path / "first", silent)
    assert copied.level == level and all(copied.rows.values())
    back_up(there, tmp_path / "second", silent)
    restore(empty_url, tmp_path / "second", silent)
    assert rows_of(there) == rows_of(sqlite_url) == rows_of(empty_url)

    async def goes_on(url: str) -> None:
        async with opened(url) as store:
            await store.ping()
            assert (await store.decision("acme", "d1")) == RECORD
            await store.commit(session(version=2), [])

    for url in (there, empty_url):
        asyncio.run(goes_on(url))


def test_a_backup_of_the_first_tables_is_lifted_when_it_is_opened(
    sqlite_url: str, empty_url: str, tmp_path: Path
) -> None:
    write_new_store(sqlite_url, lambda connection: make_tables(connection, "0001"))
    back_up(sqlite_url, tmp_path / "saved", silent)
    assert restore(empty_url, tmp_path / "saved", silent).level == "0001"
    asyncio.run(_opens(empty_url))


async def _opens(url: str) -> None:
    await (await open_store(url)).aclose()


def test_a_backup_is_of_one_moment_and_for_its_owner_only(
    lasting_url: str, tmp_path: Path, empty_url: str
) -> None:
    fill(lasting_url)
    before = rows_of(lasting_url)

    async def written() -> None:
        async with opened(lasting_url) as store:
            await store.commit(session(id=f"s{os.urandom(4).hex()}"), [])

    def meanwhile(table: str, rows: int) -> None:
        if table == "taskshield_keys":  # the first row of the first tables is read
            writer = threading.Thread(target=lambda: asyncio.run(written()))
            writer.start()
            writer.join()

    path = tmp_path / "saved"
    back_up(lasting_url, path, meanwhile)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    restore(empty_url, path, silent)
    assert rows_of(empty_url) == before != rows_of(lasting_url)


def test_a_file_that_exists_is_not_overwritten(saved: Path, sqlite_url: str) -> None:
    before = saved.read_bytes()
    with pytest.raises(ConfigError, match="exists already"):
        back_up(sqlite_url, saved, silent)
    assert saved.read_bytes() == before


def test_an_interrupted_backup_leaves_no_file(tmp_path: Path, sqlite_url: str) -> None:
    fill(sqlite_url)

    def interrupt(table: str, rows: int) -> None:
        raise KeyboardInterrupt

    files = set(os.listdir(tmp_path))
    with pytest.raises(KeyboardInterrupt):
        back_up(sqlite_url, tmp_path / "saved", interrupt)
    assert {name for name in os.listdir(tmp_path) if "saved" in name} == set()
    assert files <= set(os.listdir(tmp_path)) | {"store.db-wal", "store.db-shm"}


def test_an_interrupted_restore_changes_nothing(
    saved: Path, lasting_url: str, empty_url: str
) -> None:
    def interrupt(table: str, rows: int) -> None:
        if table == "taskshield_records":
            raise KeyboardInterrupt

    target = empty_url if lasting_url.startswith("sqlite") else lasting_url
    with pytest.raises(KeyboardInterrupt):
        restore(target, saved, interrupt)
    restore(target, saved, silent)


KILLED = """
import os, signal, sys
from pathlib import Path
from taskshield.stores.maintenance.backup import restore

def kill(table, rows):
    if table == "taskshield_records" and rows == 2:
        os.kill(os.getpid(), signal.SIGKILL)

restore(sys.argv[1], Path(sys.argv[2]), kill)
"""


def test_a_restore_that_is_killed_can_be_run_again(
    saved: Path, sqlite_url: str, empty_url: str, postgres_url: str
) -> None:
    for target in (empty_url, postgres_url):
        killed = subprocess.run([sys.executable, "-c", KILLED, target, saved], check=False)
        assert killed.returncode == -signal.SIGKILL
        restore(target, saved, silent)
        assert rows_of(target) == rows_of(sqlite_url)


def test_a_store_with_rows_is_refused_and_stays_as_it_is(saved: Path, lasting_url: str) -> None:
    if not lasting_url.startswith("sqlite"):
        fill(lasting_url)
    before = rows_of(lasting_url)
    with pytest.raises(StoreError, match="not empty"):
        restore(lasting_url, saved, silent)
    assert rows_of(lasting_url) == before


def test_empty_tables_of_another_level_are_replaced(
    sqlite_url: str, tmp_path: Path, postgres_url: str
) -> None:
    fill(sqlite_url, "0002")
    back_up(sqlite_url, tmp_path / "saved", silent)
    asyncio.run(_opens(postgres_url))
    assert restore(postgres_url, tmp_path / "saved", silent).level == "0002"
    assert rows_of(postgres_url) == rows_of(sqlite_url)


def _lines(change: Callable[[list[bytes]], list[bytes]]) -> Callable[[bytes], bytes]:
    def changed(packed: bytes) -> bytes:
        lines = gzip.decompress(packed).splitlines(keepends=True)
        return gzip.compress(b"".join(change(lines)))

    return changed


def _header(**members: object) -> Callable[[bytes], bytes]:
    return _lines(
        lambda lines: [json.dumps(json.loads(lines[0]) | members).encode() + b"\n", *lines[1:]]
    )


DAMAGED: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda packed: b"",
    "no gzip": lambda packed: b"SQLite format 3\0" * 10,
    "cut off": lambda packed: packed[: len(packed) // 2],
    "cut off between lines": _lines(lambda lines: lines[:-1]),
    "cut off within a table": _lines(lambda lines: lines[:-3]),
    "a bit is different": lambda packed: packed[:99] + bytes([packed[99] ^ 1]) + packed[100:],
    "a value is different": _lines(
        lambda lines: [each.replace(b"acme", b"ACME") for each in lines]
    ),
    "a row is missing": _lines(lambda lines: [each for each in lines if b"laptop" not in each]),
    "a row is wrong": _lines(lambda lines: [each.replace(b",60,", b',"x",') for each in lines]),
    "something follows": _lines(lambda lines: [*lines, b"[]\n"]),
    "no JSON": _lines(lambda lines: [b"[[[\n", *lines]),
    "deep": lambda packed: gzip.compress(b"[" * 100_000),
    "another file": lambda packed: gzip.compress(b'{"a": 1}\n'),
    "newer format": _header(taskshield_backup=2),
    "newer level": _header(level="9999"),
    "unknown table": _header(tables={"../../etc/passwd": ["x"]}),
    "unknown column": _header(tables={"taskshield_keys": ["x"]}),
    "tables of a wrong type": _header(tables=[1]),
    "columns of a wrong type": _header(tables={"taskshield_keys": 5}),
    "wrong types": _lines(lambda lines: [b'[null, true, 1e999, {}, "\\ud800"]\n', *lines[1:]]),
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_a_damaged_or_hostile_file_is_refused_before_anything_is_written(
    damage: str, saved: Path, tmp_path: Path, empty_url: str
) -> None:
    wrong = tmp_path / "wrong"
    wrong.write_bytes(DAMAGED[damage](saved.read_bytes()))
    with pytest.raises(TaskShieldError) as caught:
        restore(empty_url, wrong, silent)
    assert isinstance(caught.value, WireFormatError) and len(str(caught.value)) < 300
    assert not (tmp_path / "restored.db").exists()


def test_a_file_that_unpacks_to_far_more_is_read_in_bounds(
    tmp_path: Path, empty_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backup_file, "_LONGEST", 1_000_000)
    bomb = tmp_path / "bomb"
    bomb.write_bytes(gzip.compress(b"0" * 50_000_000))
    with pytest.raises(WireFormatError, match="damaged"):
        restore(empty_url, bomb, silent)


@pytest.mark.parametrize("url", ["memory:", "mysql://x", "sqlite:///"])
def test_a_url_without_a_database(url: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError):
        back_up(url, tmp_path / "saved", silent)
    assert not list(tmp_path.iterdir())


def test_what_is_no_store_is_not_saved_and_not_made(tmp_path: Path, postgres_url: str) -> None:
    with pytest.raises(StoreError, match="no file"):
        back_up(f"sqlite:///{tmp_path}/none.db", tmp_path / "saved", silent)
    with pytest.raises(StoreError, match="no tables"):
        back_up(postgres_url, tmp_path / "saved", silent)
    assert not list(tmp_path.iterdir())


def test_a_missing_backup_and_a_folder_that_is_missing(
    tmp_path: Path, sqlite_url: str, empty_url: str
) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        restore(empty_url, tmp_path / "none", silent)
    fill(sqlite_url)
    with pytest.raises(ConfigError, match="cannot be written"):
        back_up(sqlite_url, tmp_path / "no" / "saved", silent)
