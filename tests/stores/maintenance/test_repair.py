"""What a check finds, and what a repair does about it, in stores of a real server."""

import asyncio
import gzip
import json
import sqlite3
import stat
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from taskshield.cli.db.documents import read_documents
from taskshield.core.errors import ConfigError, StoreError
from taskshield.stores.maintenance.backup import prepare_empty
from taskshield.stores.maintenance.check import Findings, check
from taskshield.stores.maintenance.connections import write_new_store, write_store
from taskshield.stores.maintenance.plain_rows import plain_table
from taskshield.stores.maintenance.repair import repair
from taskshield.stores.maintenance.salvage import Salvaged, _readable, salvage
from taskshield.stores.sql.migrate import make_tables
from tests.server.sessions.stored_sessions import HERE
from tests.server.stage import HIJACKED, TENANT, TOOLS, checker, keyed
from tests.stores.maintenance.filled import rows_of
from tests.stores.rows import opened


def silent(table: str, rows: int) -> None:
    pass


def used(url: str, level: str = "0003", *, sessions: int = 2) -> None:
    """A store that a server has used."""
    write_new_store(url, lambda connection: make_tables(connection, level))

    async def body() -> None:
        async with opened(url) as store:
            await keyed(store, "check")
            guard = checker(store)
            for number in range(sessions):
                await guard.create_session(TENANT, id=f"s{number}", tools=TOOLS)
                await guard.check(TENANT, f"s{number}", HIJACKED.messages, source=HERE)
            await guard.aclose()

    asyncio.run(body())


def looked(url: str) -> Findings:
    return check(url, read_documents, silent)


def execute(url: str, *statements: str) -> None:
    def work(connection: Any) -> None:
        for statement in statements:
            connection.execute(text(statement))

    write_store(url, work)


def quarantined(path: Path) -> Sequence[Any]:
    with gzip.open(path, "rt") as file:
        return [json.loads(line) for line in file]


@pytest.fixture
def taken(tmp_path: Path) -> Path:
    return tmp_path / "quarantine"


@pytest.mark.parametrize("level", ["0002", "0003"])
def test_in_a_sound_store_nothing_is_found_or_moved(
    level: str, lasting_url: str, taken: Path
) -> None:
    used(lasting_url, level)
    found = looked(lasting_url)
    assert (found.problems, found.notes, found.level) == ([], [], level)
    assert found.rows["taskshield_sessions"] == 2 and found.rows["taskshield_records"] == 10
    before = rows_of(lasting_url)
    repaired = repair(lasting_url, taken, read_documents, silent)
    assert not repaired.moved and not repaired.left
    assert rows_of(lasting_url) == before and not taken.exists()


def test_rows_that_cannot_be_used_are_found_and_moved(lasting_url: str, taken: Path) -> None:
    used(lasting_url)
    columns = ", ".join(
        'tenant id session number at surface level action "check" judge elapsed_ms summary digest'
        " folded tools llm_calls llm_tokens".split()
    )
    odd = columns.replace(", id,", ", 'odd',")
    execute(
        lasting_url,
        "UPDATE taskshield_sessions SET state = '{\"version\": 2}' WHERE id = 's0'",
        f"INSERT INTO taskshield_records ({columns}, \"case\") SELECT {odd}, '[[['"
        " FROM taskshield_records LIMIT 1",
        f"INSERT INTO taskshield_records ({columns}, tier) SELECT {odd.replace('odd', 'odd2')},"
        " 'no such tier' FROM taskshield_records LIMIT 1",
    )
    found = looked(lasting_url)
    assert dict(found.bad) == {"taskshield_sessions": 1, "taskshield_records": 2}
    assert len(found.problems) == 3 and any("'s0'" in each for each in found.problems)
    before = rows_of(lasting_url)
    repaired = repair(lasting_url, taken, read_documents, silent)
    parts = repaired.moved["taskshield_parts"]
    assert parts > 5
    assert repaired.moved["taskshield_sessions"] == 1 and repaired.moved["taskshield_records"] == 2
    assert stat.S_IMODE(taken.stat().st_mode) == 0o600
    rows = quarantined(taken)
    assert {each["row"].get("id") for each in rows} == {"s0", "odd", "odd2", None}
    after = rows_of(lasting_url)
    lost = {name: len(before[name]) - len(after[name]) for name in before}
    assert {name: number for name, number in lost.items() if number} == repaired.moved
    assert looked(lasting_url).problems == []
    with pytest.raises(ConfigError, match="exists already"):
        repair(lasting_url, taken, read_documents, silent)


@pytest.mark.parametrize(
    "newer",
    [
        "UPDATE taskshield_version SET version_num = '0009'",
        "UPDATE taskshield_sessions SET state = '{\"version\": 99}' WHERE id = 's0'",
    ],
)
def test_what_a_newer_release_wrote_is_a_problem_and_is_not_moved(
    newer: str, lasting_url: str, taken: Path, tmp_path: Path
) -> None:
    used(lasting_url)
    execute(lasting_url, newer)
    (problem,) = looked(lasting_url).problems
    assert "newer release" in problem
    before = rows_of(lasting_url)
    with pytest.raises(StoreError, match="newer release"):
        repair(lasting_url, taken, read_documents, silent)
    if lasting_url.startswith("sqlite"):
        with pytest.raises(StoreError, match="newer release"):
            salvage(lasting_url, tmp_path / "new.db", taken, read_documents, silent)
        assert not (tmp_path / "new.db").exists()
    assert rows_of(lasting_url) == before and not taken.exists()


def test_a_missing_part_makes_a_session_unreadable(lasting_url: str) -> None:
    used(lasting_url)
    execute(
        lasting_url,
        "DELETE FROM taskshield_parts WHERE session = 's1' AND kind = 'tainted directive'",
    )
    assert looked(lasting_url).bad == {"taskshield_sessions": 1}


def test_keys_are_never_removed(lasting_url: str, taken: Path) -> None:
    used(lasting_url)
    execute(lasting_url, "UPDATE taskshield_keys SET name = 'renamed', scopes = 'check'")
    assert looked(lasting_url).problems == []
    if not lasting_url.startswith("sqlite"):
        return  # Postgres itself refuses what no key can have
    execute(lasting_url, "UPDATE taskshield_keys SET created_at = 'never'")
    repaired = repair(lasting_url, taken, read_documents, silent)
    assert not repaired.moved and not taken.exists()
    assert len(repaired.left) == 1 and "taskshield_keys" in repaired.left[0]


def test_missing_tables_and_columns_are_named(lasting_url: str, tmp_path: Path) -> None:
    used(lasting_url)
    execute(
        lasting_url,
        "DROP TABLE taskshield_labels",
        "ALTER TABLE taskshield_keys DROP COLUMN per_minute",
    )
    missing = {
        "taskshield_keys: the column per_minute is missing.",
        "The table taskshield_labels is missing.",
    }
    assert set(looked(lasting_url).problems) == missing
    repaired = repair(lasting_url, tmp_path / "quarantine", read_documents, silent)
    assert set(repaired.left) == missing
    execute(lasting_url, "UPDATE taskshield_version SET version_num = '0009'")
    assert any("newer release" in each for each in looked(lasting_url).problems)
    execute(lasting_url, "DROP TABLE taskshield_version")
    assert looked(lasting_url).problems == ["There are no tables of taskshield in this database."]


def test_the_table_of_parts_is_named_where_it_is_missing(lasting_url: str, taken: Path) -> None:
    used(lasting_url)
    execute(lasting_url, "DROP TABLE taskshield_parts")
    assert looked(lasting_url).problems == [
        "The table taskshield_parts is missing.",
        "taskshield_sessions: not all rows can be read.",
    ]
    with pytest.raises(StoreError):
        repair(lasting_url, taken, read_documents, silent)


def test_a_database_without_tables_is_no_store(lasting_url: str, taken: Path) -> None:
    write_new_store(lasting_url, lambda connection: None)
    for work in (looked, lambda url: repair(url, taken, read_documents, silent)):
        with pytest.raises(StoreError, match="no tables"):
            work(lasting_url)


def test_a_part_that_is_no_text_is_a_bad_row(sqlite_url: str, taken: Path) -> None:
    used(sqlite_url)
    execute(sqlite_url, "UPDATE taskshield_parts SET text = x'00ff' WHERE session = 's1'")
    assert looked(sqlite_url).bad["taskshield_sessions"] == 1
    assert repair(sqlite_url, taken, read_documents, silent).moved["taskshield_sessions"] == 1
    assert looked(sqlite_url).problems == []


def overwrite(path: Path, table: str, *, share: float = 0.1, first: int = 1) -> int:
    """Overwrite some pages of a table, but not its first; how many."""
    with closing(sqlite3.connect(path)) as file:
        wanted = "SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY pageno"
        try:
            pages = [page for (page,) in file.execute(wanted, (table,))]
        except sqlite3.OperationalError:  # SQLite without the table of pages
            pages = []
        (size,) = file.execute("PRAGMA page_size").fetchone()
        (count,) = file.execute("PRAGMA page_count").fetchone()
    assert pages, (table, count)
    chosen = pages[first :: max(1, round(1 / share))]
    with path.open("r+b") as opened_file:
        for page in chosen:
            opened_file.seek((page - 1) * size)
            opened_file.write(b"\xa5" * size)
    return len(chosen)


def test_what_can_be_read_of_a_damaged_file_is_saved(tmp_path: Path, taken: Path) -> None:
    url, path = f"sqlite:///{tmp_path}/store.db", tmp_path / "store.db"
    used(url, sessions=20)
    before = rows_of(url)
    overwrite(path, "taskshield_records")
    damaged = path.read_bytes()
    found = looked(url)
    assert any("The file is damaged" in each for each in found.problems)
    assert "taskshield_records: not all rows can be read." in found.problems
    with pytest.raises(StoreError, match="--into"):
        repair(url, taken, read_documents, silent)
    target = tmp_path / "new.db"
    saved = salvage(url, target, taken, read_documents, silent)
    assert path.read_bytes() == damaged
    assert saved.gaps["taskshield_records"] > 0
    new = f"sqlite:///{target}"
    after = rows_of(new)
    assert 0 < len(after["taskshield_records"]) < len(before["taskshield_records"])
    assert set(after["taskshield_records"]) <= set(before["taskshield_records"])
    others = before.keys() - {"taskshield_records"}
    assert {name: after[name] for name in others} == {name: before[name] for name in others}
    assert looked(new).problems == []
    with pytest.raises(StoreError, match="exists already"):
        salvage(url, target, taken, read_documents, silent)


def test_of_a_file_that_was_cut_off_the_beginning_is_saved(tmp_path: Path, taken: Path) -> None:
    url, path = f"sqlite:///{tmp_path}/store.db", tmp_path / "store.db"
    used(url, sessions=40)
    before = rows_of(url)
    cut = path.read_bytes()[: path.stat().st_size * 2 // 3]
    path.write_bytes(cut)
    saved = salvage(url, tmp_path / "new.db", taken, read_documents, silent)
    assert path.read_bytes() == cut and saved.gaps
    after = rows_of(f"sqlite:///{tmp_path}/new.db")
    assert all(set(after[name]) <= set(before[name]) for name in before)
    assert sum(map(len, after.values())) > 10
    assert looked(f"sqlite:///{tmp_path}/new.db").problems == []


def test_a_tree_that_leads_to_the_same_rows_again_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    def rows() -> Iterator[tuple[int, str]]:
        yield from ((1, "first"), (2, "second"))
        raise sqlite3.DatabaseError

    class Circle:
        """A damaged table in which a search ends anywhere, and which then fails."""

        def execute(self, query: str, limits: object = None) -> Iterator[tuple[int, str]]:
            if query.startswith("SELECT max"):
                raise sqlite3.DatabaseError
            return rows()

    monkeypatch.setattr("taskshield.stores.maintenance.salvage._FAILURES", 100)
    found = _readable(Circle(), plain_table("taskshield_labels", []), Salvaged())  # type: ignore[arg-type]
    assert list(found) == [("first",), ("second",)]


def test_a_lock_is_not_called_damage(
    sqlite_url: str, tmp_path: Path, taken: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    used(sqlite_url)
    impatient = partial(sqlite3.connect, timeout=0)
    monkeypatch.setattr("taskshield.stores.maintenance.salvage.sqlite3.connect", impatient)
    monkeypatch.setattr("taskshield.stores.sql.sqlite._BUSY_MS", 1)
    with closing(sqlite3.connect(sqlite_url[10:], isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError) as locked:
            repair(sqlite_url, taken, read_documents, silent)
        assert locked.value.state == "locked"
        other.execute("ROLLBACK")
        other.execute("PRAGMA journal_mode = DELETE")
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreError) as locked:
            salvage(sqlite_url, tmp_path / "new.db", taken, read_documents, silent)
        assert locked.value.state == "locked"


def test_a_full_disk_is_named_and_leaves_no_file(
    sqlite_url: str, tmp_path: Path, taken: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    used(sqlite_url, sessions=20)

    def on_a_small_disk(connection: Any, level: str) -> None:
        prepare_empty(connection, level)
        connection.execute(text("PRAGMA max_page_count = 40"))

    monkeypatch.setattr("taskshield.stores.maintenance.salvage.prepare_empty", on_a_small_disk)
    with pytest.raises(StoreError) as full:
        salvage(sqlite_url, tmp_path / "new.db", taken, read_documents, silent)
    assert full.value.state == "full"
    assert not (tmp_path / "new.db").exists() and not taken.exists()


def test_an_index_that_lacks_a_row_is_built_again(tmp_path: Path, taken: Path) -> None:
    url, path = f"sqlite:///{tmp_path}/store.db", tmp_path / "store.db"
    used(url)
    name = "taskshield_sessions_newest"
    with closing(sqlite3.connect(path, isolation_level=None)) as file:
        file.execute("PRAGMA writable_schema = ON")
        index = file.execute("SELECT * FROM sqlite_master WHERE name = ?", (name,)).fetchone()
        file.execute("DELETE FROM sqlite_master WHERE name = ?", (name,))
    with closing(sqlite3.connect(path, isolation_level=None)) as file:  # knows no such index
        file.execute("UPDATE taskshield_sessions SET updated_at = '2020-01-01 00:00:00'")
        file.execute("PRAGMA writable_schema = ON")
        file.execute("INSERT INTO sqlite_master VALUES (?, ?, ?, ?, ?)", index)
    before = rows_of(url)
    assert any(name in each for each in looked(url).problems)
    repair(url, taken, read_documents, silent)
    assert looked(url).problems == [] and rows_of(url) == before


def test_of_a_file_with_a_damaged_index_no_row_is_lost(tmp_path: Path, taken: Path) -> None:
    url, path = f"sqlite:///{tmp_path}/store.db", tmp_path / "store.db"
    used(url)
    before = rows_of(url)
    overwrite(path, "taskshield_records_newest", share=1.0, first=0)
    with pytest.raises(StoreError, match="--into"):
        repair(url, taken, read_documents, silent)
    saved = salvage(url, tmp_path / "new.db", taken, read_documents, silent)
    assert not saved.gaps and not saved.moved
    assert rows_of(f"sqlite:///{tmp_path}/new.db") == before


def test_a_file_without_any_table_is_left_alone(tmp_path: Path, taken: Path) -> None:
    path = tmp_path / "store.db"
    path.write_bytes(b"no database" * 1000)
    for work in (
        lambda: looked(f"sqlite:///{path}"),
        lambda: repair(f"sqlite:///{path}", taken, read_documents, silent),
        lambda: salvage(f"sqlite:///{path}", tmp_path / "new.db", taken, read_documents, silent),
    ):
        with pytest.raises(StoreError):
            work()
    assert [each.name for each in tmp_path.iterdir()] == ["store.db"]
