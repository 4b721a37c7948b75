"""Tables made by this release, by earlier ones and by other programs."""

import asyncio
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, MetaData, text
from sqlalchemy.exc import DBAPIError

from taskshield.core.errors import StoreError
from taskshield.stores.open_store import open_store
from taskshield.stores.sql.postgres import postgres_engine
from taskshield.stores.sql.sqlite import sqlite_engine
from taskshield.stores.sql.tables import METADATA, VERSION, VERSION_TABLE
from tests.stores.rows import AGES_AGO, NOW, RECORD, SESSION, opened, session

T = TypeVar("T")


async def apart(url: str, work: Callable[[Connection], T]) -> T:
    """Do with a database what no store would."""
    kind, _, path = url.partition(":///")
    if kind == "sqlite":
        plain = sqlite_engine(path)
        try:
            with plain.begin() as sync:
                return work(sync)
        finally:
            plain.dispose()
    engine = postgres_engine(url)
    try:
        async with engine.begin() as connection:
            return await connection.run_sync(work)
    finally:
        await engine.dispose()


async def execute(url: str, statement: str) -> None:
    await apart(url, lambda connection: connection.execute(text(statement)))


def test_several_files_are_migrated_at_the_same_time(tmp_path: Path) -> None:
    async def body() -> None:
        urls = [f"sqlite:///{tmp_path / str(number)}.db" for number in range(6)]
        for store in await asyncio.gather(*map(open_store, urls)):
            await store.ping()
            await store.aclose()

    asyncio.run(body())


def test_the_migrations_make_the_declared_tables(lasting_url: str) -> None:
    async def body() -> None:
        async with opened(lasting_url):
            pass
        differences = await apart(
            lasting_url,
            lambda connection: compare_metadata(
                MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE}),
                METADATA,
            ),
        )
        assert differences == []

    asyncio.run(body())


def test_the_version_of_the_tables_is_the_last_step() -> None:
    config = Config()
    config.set_main_option("script_location", "taskshield.stores.sql:migrations")
    assert ScriptDirectory.from_config(config).get_heads() == [VERSION]


def test_a_store_that_is_up_to_date_is_opened_without_alembic(sqlite_url: str) -> None:
    program = (
        "import asyncio, sys\n"
        "from taskshield.stores.open_store import open_store\n"
        "async def opened():\n"
        f"    await (await open_store({sqlite_url!r})).aclose()\n"
        "asyncio.run(opened())\n"
        "print('alembic' in sys.modules)\n"
    )
    printed = [
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    assert [each.stdout.strip() for each in printed] == ["True", "False"]


def test_opening_again_changes_nothing(lasting_url: str) -> None:
    async def body() -> None:
        async with opened(lasting_url) as store:
            await store.commit(SESSION, [RECORD])
        async with opened(lasting_url) as store:
            assert await store.session("acme", "s1") == SESSION
            assert await store.decision("acme", "d1") == RECORD

    asyncio.run(body())


def test_a_store_of_a_newer_release_is_left_alone(lasting_url: str) -> None:
    async def body() -> None:
        async with opened(lasting_url) as store:
            await store.commit(SESSION, [])
        await execute(lasting_url, f"UPDATE {VERSION_TABLE} SET version_num = '9999'")
        with pytest.raises(StoreError, match="newer release"):
            await open_store(lasting_url)

    asyncio.run(body())


def test_tables_that_lack_a_column_are_noticed_when_the_store_is_opened(lasting_url: str) -> None:
    async def body() -> None:
        async with opened(lasting_url) as store:
            await store.commit(SESSION, [])
        await execute(lasting_url, "ALTER TABLE taskshield_sessions DROP COLUMN agent")
        with pytest.raises(StoreError, match="tables are not those of this release"):
            await open_store(lasting_url)

    asyncio.run(body())


def test_records_cannot_be_changed(lasting_url: str) -> None:
    async def body() -> None:
        async with opened(lasting_url) as store:
            await store.commit(SESSION, [RECORD])
            with pytest.raises(DBAPIError, match="audit records cannot be changed"):
                await execute(lasting_url, "UPDATE taskshield_records SET action = 'block'")
            assert await store.decision("acme", "d1") == RECORD
            assert await store.prune(older_than=None, keep=0) == 2

    asyncio.run(body())


def test_a_step_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE taskshield_keys (other)")  # in the way of the last table
    connection.close()
    with pytest.raises(StoreError):
        asyncio.run(open_store(f"sqlite:///{path}"))
    with sqlite3.connect(path) as connection:
        names = connection.execute("SELECT name FROM sqlite_master").fetchall()
    connection.close()
    assert names == [("taskshield_keys",)]


def test_sessions_of_the_first_release_are_counted(lasting_url: str) -> None:
    async def body() -> None:
        await apart(lasting_url, _first_release)
        async with opened(lasting_url) as store:
            counted, empty = (await store.sessions("acme")).items
            assert (counted.id, counted.messages, counted.blocked) == ("s2", 4, 2)
            assert (counted.escalated, counted.surface) == (1, "proxy")
            assert (counted.last_action, counted.last_at) == ("block", NOW)
            assert (empty.id, empty.messages, empty.last_action) == ("s1", 0, None)
            assert [each.id for each in await store.timeline("acme", "s2")] == list("abcd")
            (tally, *_) = await store.tallies("acme", since=AGES_AGO, limit=9)
            assert (tally.tools, tally.llm_calls) == ((), 0)
            await store.commit(session(id="s2", version=2, messages=5), [])
            assert (await store.sessions("acme")).items[0].messages == 5

    asyncio.run(body())


def _first_release(connection: Connection) -> None:
    """The tables of the first step, and rows as they were then."""
    config = Config()
    config.set_main_option("script_location", "taskshield.stores.sql:migrations")
    config.attributes["connection"] = connection
    command.upgrade(config, "0001")
    tables = MetaData()
    tables.reflect(connection)
    for id in ("s1", "s2"):
        row = {name: getattr(SESSION, name) for name in ("tenant", "version", "state")}
        times = {"created_at": NOW, "updated_at": NOW}
        connection.execute(
            tables.tables["taskshield_sessions"].insert(), {**row, **times, "id": id}
        )
    for number, action in enumerate(["allow", "revise", "escalate", "block"]):
        names = tables.tables["taskshield_records"].columns.keys()
        row = {name: getattr(RECORD, name) for name in names if name != "folded"}
        mine = {"session": "s2", "number": number, "action": action, "folded": ""}
        place = {"id": "abcd"[number], "surface": "azure" if number < 3 else "proxy"}
        connection.execute(
            tables.tables["taskshield_records"].insert(), {**row, **mine, **place, "tier": None}
        )
