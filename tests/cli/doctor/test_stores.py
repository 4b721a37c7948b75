"""Stores as they are found: files, folders and Postgres databases."""

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import asyncpg
import pytest

from taskshield.cli.doctor import sqlite_file
from taskshield.cli.doctor.stores import StoreFacts, check_store
from taskshield.settings import load
from taskshield.stores.open_store import open_store
from taskshield.stores.sql.tables import VERSION, WITHOUT_PARTS
from tests.cli.doctor.stage import made_store
from tests.stores.postgres_server import PostgresServer
from tests.stores.rows import KEY, NOW, RECORD, SESSION


def looked(url: str) -> StoreFacts:
    return check_store(load({"server": {"store": url}}, environment={}).server)


def changed(file: Path, statement: str) -> str:
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(statement)
    return f"sqlite:///{file}"


def states(facts: StoreFacts) -> list[str]:
    return [each.state for each in facts.findings]


def test_a_file_that_works(tmp_path: Path) -> None:
    facts = looked(f"sqlite:///{made_store(tmp_path, key=True, newest=NOW)}")
    assert states(facts) == ["ok"] and facts.keys == 1 and facts.newest == NOW
    assert f"version {VERSION}" in facts.findings[0].what


def test_a_store_in_memory_is_lost_at_a_restart() -> None:
    facts = looked("memory:")
    assert states(facts) == ["note"] and facts.keys == 0


@pytest.mark.parametrize(
    "url",
    [
        "canary",
        "sqlite:canary",
        "sqlite:///",
        "sqlite:///canary.db?mode=ro",
        "mysql://user:canary@host/x",
        "postgres:x",
    ],
)
def test_what_is_not_the_url_of_a_store(url: str) -> None:
    (bad,) = looked(url).findings
    assert bad.state == "failed" and "canary" not in str(bad)


def test_a_folder_in_place_of_the_file(tmp_path: Path) -> None:
    assert "is not a file" in looked(f"sqlite:///{tmp_path}").findings[0].what


def test_a_folder_that_this_user_may_not_look_into(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> bool:  # root may look into every folder
        raise PermissionError

    monkeypatch.setattr(Path, "is_dir", refused)
    (bad,) = looked(f"sqlite:///{tmp_path / 'store.db'}").findings
    assert bad.state == "failed" and "may not look into" in bad.what and bad.advice


def test_a_file_of_another_program(tmp_path: Path) -> None:
    facts = looked(changed(tmp_path / "other.db", "CREATE TABLE recipes (name)"))
    assert "note" in states(facts) and "failed" not in states(facts)


def test_a_store_of_an_older_release(tmp_path: Path) -> None:
    url = changed(
        made_store(tmp_path), f"UPDATE taskshield_version SET version_num = '{WITHOUT_PARTS}'"
    )
    facts = looked(url)
    assert states(facts) == ["ok", "note"]
    assert facts.findings[1].advice.endswith("taskshield db upgrade")


@pytest.mark.parametrize(
    "damage",
    [
        "DROP TABLE taskshield_keys",
        "DROP TABLE taskshield_parts",
        "ALTER TABLE taskshield_labels DROP COLUMN note",
        "DROP TABLE taskshield_version",
    ],
)
def test_a_store_that_lacks_a_table_or_a_column(tmp_path: Path, damage: str) -> None:
    (bad,) = looked(changed(made_store(tmp_path), damage)).findings
    assert bad.state == "failed" and "db check" in bad.advice
    assert damage.split()[2] in bad.what or "version is lost" in bad.what


def test_a_file_in_place_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "folder").touch()
    (bad,) = looked(f"sqlite:///{tmp_path}/folder/store.db").findings
    assert bad.state == "failed" and "is a file" in bad.what and "mkdir" not in bad.advice


def test_a_disk_that_is_nearly_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_file, "_LEAST_FREE", 1 << 60)
    facts = looked(f"sqlite:///{made_store(tmp_path)}")
    assert "MB are free" in facts.findings[-1].what and facts.findings[-1].state == "failed"


def test_a_long_file_is_not_read_completely(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_file, "_READ_WHOLE", 0)
    assert states(looked(f"sqlite:///{made_store(tmp_path)}")) == ["ok"]


@pytest.fixture(scope="module")
def postgres() -> Iterator[PostgresServer]:
    server = PostgresServer()
    yield server
    server.remove()


def test_a_postgres_that_works(postgres: PostgresServer) -> None:
    url = postgres.new_url()
    empty = looked(url)
    assert states(empty) == ["ok"] * len(empty.findings) and empty.keys == 0

    async def fill() -> None:
        store = await open_store(url)
        await store.commit(SESSION, [RECORD])
        await store.add_key(KEY)
        await store.aclose()

    asyncio.run(fill())
    facts = looked(url)
    assert states(facts) == ["ok"] and facts.keys == 1 and facts.newest == RECORD.at
    assert facts.now is not None and facts.now.tzinfo is not None


def test_a_postgres_url_that_makes_no_sense() -> None:
    (bad,) = looked("postgresql://user:canary@host:port/name").findings
    assert bad.state == "failed" and "canary" not in str(bad)


async def execute(url: str, *statements: str) -> None:
    connection = await asyncpg.connect(url)
    try:
        for statement in statements:
            await connection.execute(statement)
    finally:
        await connection.close()


def test_a_postgres_that_lacks_a_table(postgres: PostgresServer) -> None:
    url = postgres.new_url()
    asyncio.run(_made(url))
    asyncio.run(execute(url, "DROP TABLE taskshield_parts"))
    (bad,) = looked(url).findings
    assert bad.state == "failed" and "taskshield_parts is missing" in bad.what
    asyncio.run(execute(url, "DROP TABLE taskshield_version"))
    (bad,) = looked(url).findings
    assert bad.state == "failed" and "version is lost" in bad.what


def test_a_postgres_user_who_may_not_write_all_tables(postgres: PostgresServer) -> None:
    url = postgres.new_url()
    asyncio.run(_made(url))
    schema = url.rpartition("search_path=")[2]
    asyncio.run(
        execute(
            url,
            "CREATE USER reader PASSWORD 'r'",
            f"GRANT USAGE ON SCHEMA {schema} TO reader",
            f"GRANT SELECT, INSERT, DELETE ON ALL TABLES IN SCHEMA {schema} TO reader",
        )
    )
    theirs = f"postgresql://reader:r@{url.rpartition('@')[2]}"
    (bad,) = looked(theirs).findings
    assert bad.state == "failed" and "permission" in bad.what and "UPDATE" in bad.advice
    asyncio.run(execute(url, f"GRANT UPDATE ON ALL TABLES IN SCHEMA {schema} TO reader"))
    assert states(looked(theirs)) == ["ok"]
    asyncio.run(execute(url, f"REVOKE ALL ON ALL TABLES IN SCHEMA {schema} FROM reader"))
    (bad,) = looked(theirs).findings
    assert bad.state == "failed" and "permission" in bad.what


async def _made(url: str) -> None:
    await (await open_store(url)).aclose()
