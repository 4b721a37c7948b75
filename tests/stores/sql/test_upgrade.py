"""Upgrades of a store of the release before: killed midway, and while servers write."""

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import pytest
from sqlalchemy import Connection, insert, text

from taskshield.cli.main import main
from taskshield.core.session_parts import document_version
from taskshield.core.store import Store, StoredSession
from taskshield.server.sessions.audit_records import TextRedaction
from taskshield.server.sessions.head_and_parts import OLD_BEGINNING, is_head
from taskshield.server.sessions.snapshot_store import SnapshotStore
from taskshield.server.sessions.snapshots import StoredContent
from taskshield.server.sessions.store_upgrade import upgrade_sessions
from taskshield.stores.sql.rows import row_of
from taskshield.stores.sql.store import SqlStore
from taskshield.stores.sql.tables import SESSIONS
from taskshield.stores.sql.upgrade import SessionPlace, SqlUpgrade
from tests.server.sessions.stored_sessions import HERE
from tests.server.stage import ESCALATING, HIJACKED, TENANT, checker, conversation, user
from tests.stores.rows import opened
from tests.stores.sql.test_migrate import apart
from tests.stores.sql.test_parts import of_0_1_0

COUNT = 400


async def fill(url: str, count: int) -> list[str]:
    """Make a store of the release before with so many sessions; their ids."""
    await apart(url, of_0_1_0)
    async with opened(url) as store:
        one = checker(store, policy=ESCALATING)
        await one.check(TENANT, "s", HIJACKED.messages, source=HERE, start=True)
        known = await one.check_conversation(TENANT, conversation(user()), source=HERE)
        row = await store.session(TENANT, "s")
    assert row is not None and row.state is not None and row.state.startswith(OLD_BEGINNING)
    ids = [f"copy{number:04}" for number in range(count - 2)]
    texts = {id: row.state.replace('"id": "s"', f'"id": "{id}"', 1) for id in ids}
    copies = [row_of(replace(row, id=id, state=text)) for id, text in texts.items()]
    await apart(url, lambda connection: connection.execute(insert(SESSIONS), copies))
    return ["s", known.session, *ids]


async def contents(url: str, ids: list[str]) -> dict[str, tuple[StoredContent, int]]:
    """What a server reads of these sessions, and their versions."""
    async with opened(url) as store:
        snapshots = SnapshotStore(store, TextRedaction(), cached=1)
        read = {}
        for id in ids:
            snapshot = await snapshots.load(TENANT, id)
            assert snapshot is not None and snapshot.id == id
            read[id] = (snapshot.content, snapshot.version)
        return read


async def upgraded(url: str) -> int:
    """How many sessions are head and parts."""
    states = "SELECT state FROM taskshield_sessions"
    found = await apart(url, lambda connection: connection.scalars(text(states)).all())
    return sum(map(is_head, found))


@contextmanager
def upgrading(url: str) -> Iterator[subprocess.Popen[str]]:
    program = "import sys; from taskshield.cli.main import main; main(sys.argv[1:])"
    command = [sys.executable, "-c", program, "db", "upgrade", "--store", url]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def test_an_upgrade_that_is_killed_goes_on_where_it_was(
    lasting_url: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    ids = asyncio.run(fill(lasting_url, COUNT))
    before = asyncio.run(contents(lasting_url, ids))

    async def kill_midway() -> None:
        def kill_while_it_waits(connection: Connection) -> None:
            # Every write waits for this transaction, so that the upgrade does not come to its end.
            if connection.dialect.name == "postgresql":
                connection.execute(text("LOCK TABLE taskshield_sessions IN EXCLUSIVE MODE"))
            else:
                connection.execute(text("UPDATE taskshield_version SET version_num = version_num"))
            process.kill()
            process.wait()

        with upgrading(lasting_url) as process:
            assert process.stderr is not None
            assert process.stderr.readline() == f"taskshield: 100 of {COUNT} sessions\n"
            await apart(lasting_url, kill_while_it_waits)

    asyncio.run(kill_midway())
    done = asyncio.run(upgraded(lasting_url))
    assert 100 <= done < COUNT
    assert asyncio.run(contents(lasting_url, ids)) == before
    assert main(["db", "upgrade", "--store", lasting_url]) == 0
    assert f"Upgraded {COUNT - done} sessions." in capsys.readouterr().err
    assert asyncio.run(upgraded(lasting_url)) == COUNT
    assert asyncio.run(contents(lasting_url, ids)) == before
    assert main(["db", "upgrade", "--store", lasting_url]) == 0
    assert "Upgraded 0 sessions. The store is up to date." in capsys.readouterr().err


class Interrupted(SqlUpgrade):
    """Servers write to a session after it was read and before it is written."""

    meanwhile: Callable[[], Awaitable[None]]

    async def batch(self, after: SessionPlace | None) -> Sequence[StoredSession]:
        found = await super().batch(after)
        if found and after is None:
            await self.meanwhile()
        return found


def test_servers_write_during_and_after_an_upgrade(lasting_url: str) -> None:
    async def body() -> None:
        ids = await fill(lasting_url, 4)
        async with opened(lasting_url) as store, opened(lasting_url) as other:
            assert isinstance(store, SqlStore)
            servers = [checker(each, policy=ESCALATING) for each in (store, other)]

            async def write(id: str) -> None:
                for server in servers:
                    await server.check(TENANT, id, [user("Go on.")], source=HERE)

            async def first() -> None:
                await write("s")

            await write("s")
            upgrade = Interrupted(store.database, old=OLD_BEGINNING)
            upgrade.meanwhile = first
            await upgrade.tables()
            result = await upgrade_sessions(upgrade)
            assert (result.unreadable, await upgrade.count()) == (0, 0)
            for id in ids:
                await write(id)
            assert [document_version(each) for each in (store, other)] == [2, 2]
            newest = (await servers[0].finder.newest(TENANT, "s")).state
            # The first writes meanwhile were still whole texts, so the upgrade looked again.
            assert newest.messages == len(HIJACKED.messages) + 4 * len(servers)
            assert await upgraded(lasting_url) == len(ids)
            assert await read_alike([store, other], ids)

    asyncio.run(body())


async def read_alike(stores: list[Store], ids: list[str]) -> bool:
    """Whether new servers on these stores read the same."""
    found = []
    for store in stores:
        snapshots = SnapshotStore(store, TextRedaction(), cached=1)
        loaded = [await snapshots.load(TENANT, id) for id in ids]
        found.append([each.content for each in loaded if each is not None])
    return all(each == found[0] and len(each) == len(ids) for each in found)
