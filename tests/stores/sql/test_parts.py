"""Stores whose tables were made by release 0.1.0 and have no parts, before and after an upgrade."""

import asyncio
from dataclasses import replace

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, inspect

from taskshield.core.errors import StoreError
from taskshield.core.session_parts import SessionHead, SessionPart, document_version
from taskshield.core.store import Store
from taskshield.stores.sql.migrate import upgrade_tables
from taskshield.stores.sql.store import SqlStore
from taskshield.stores.sql.tables import VERSION_TABLE
from tests.stores.rows import NOW, RECORD, SESSION, opened, session
from tests.stores.sql.test_migrate import apart

PART = SessionPart(kind="turn", position=0, text="{}")
HEAD = SessionHead(
    tenant="acme", id="s1", version=2, state="{}", created_at=NOW, updated_at=NOW, parts=(PART,)
)


def of_0_1_0(connection: Connection) -> None:
    """Make the tables as release 0.1.0 did."""
    config = Config()
    config.set_main_option("script_location", "taskshield.stores.sql:migrations")
    config.attributes["connection"] = connection
    command.upgrade(config, "0002")


def database_of(store: Store) -> SqlStore:
    assert isinstance(store, SqlStore)
    return store


def test_tables_of_the_release_before_stay_as_they_are(lasting_url: str) -> None:
    async def body() -> None:
        await apart(lasting_url, of_0_1_0)
        async with opened(lasting_url) as store:
            assert document_version(store) == 1
            await store.commit(SESSION, [RECORD])
            await store.commit(session(version=2, state="changed"), [])
            with pytest.raises(StoreError, match="no parts"):
                await store.commit(replace(HEAD, version=3), [])
            assert await store.session("acme", "s1") == session(version=2, state="changed")
            assert await store.prune(older_than=None, keep=0) == 2
            assert document_version(store) == 1
        assert await apart(lasting_url, table_names) == {"taskshield_version": "0002"}

    asyncio.run(body())


def table_names(connection: Connection) -> dict[str, str]:
    """The version of the tables; a table of parts would be named too."""
    inspector = inspect(connection)
    version = connection.exec_driver_sql(f"SELECT version_num FROM {VERSION_TABLE}").scalar_one()
    parts = {"taskshield_parts": "is there"} if inspector.has_table("taskshield_parts") else {}
    return {VERSION_TABLE: version, **parts}


def test_an_open_store_learns_of_the_upgrade_with_its_next_write(lasting_url: str) -> None:
    async def body() -> None:
        await apart(lasting_url, of_0_1_0)
        async with opened(lasting_url) as slow, opened(lasting_url) as store:
            await store.commit(SESSION, [])
            await upgrade_tables(database_of(store).database)
            async with opened(lasting_url) as new:
                assert document_version(new) == 2
                await new.commit(HEAD, [])
            assert document_version(slow) == 1
            # It reads parts, and a session that it writes as one text has none left.
            assert await database_of(slow).parts("acme", "s1", 2) == (PART,)
            await slow.commit(session(version=3), [])
            assert document_version(slow) == 2
            assert await database_of(slow).parts("acme", "s1", 3) == ()

    asyncio.run(body())


def test_deleting_sessions_deletes_parts_after_an_upgrade_as_well(lasting_url: str) -> None:
    async def body() -> None:
        await apart(lasting_url, of_0_1_0)
        async with opened(lasting_url) as slow:
            await slow.commit(SESSION, [])
            await upgrade_tables(database_of(slow).database)
            async with opened(lasting_url) as new:
                await new.commit(HEAD, [])
            assert await slow.prune(older_than=None, keep=0) == 1
            rows = "SELECT count(*) FROM taskshield_parts"
            counted = await apart(lasting_url, lambda open: open.exec_driver_sql(rows).scalar())
            assert counted == 0

    asyncio.run(body())


def test_an_upgrade_can_be_made_again(lasting_url: str) -> None:
    async def body() -> None:
        async with opened(lasting_url) as store:
            await store.commit(SESSION, [RECORD])
            await upgrade_tables(database_of(store).database)
            assert await store.session("acme", "s1") == SESSION

    asyncio.run(body())
