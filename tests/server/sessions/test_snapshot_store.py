from dataclasses import replace

import pytest

from taskshield.core.errors import StoreConflict, StoreError
from taskshield.core.tools import ToolSpec
from taskshield.server.http.errors import RequestError
from taskshield.server.sessions.audit_records import TextRedaction
from taskshield.server.sessions.snapshot_store import SnapshotStore
from taskshield.server.sessions.snapshots import SessionSnapshot, SnapshotChange, new_snapshot
from taskshield.stores.memory import MemoryStore
from tests.engine.sessions import run
from tests.server.sessions.stored_sessions import (
    HERE,
)
from tests.server.stage import (
    HIJACKED,
    TENANT,
    Failing,
    checker,
    user,
)


def test_a_session_that_cannot_be_read_is_the_stores_failure() -> None:
    async def work() -> None:
        store = MemoryStore()
        await checker(store).create_session(TENANT, id="s")
        kept = await store.session(TENANT, "s")
        assert kept is not None
        await store.commit(replace(kept, version=2, state="{}"), [])
        with pytest.raises(StoreError, match="cannot be read"):
            await checker(store).finder.newest(TENANT, "s")

    run(work())


def test_a_new_session_is_not_confused_with_a_deleted_one_of_its_id() -> None:
    async def work() -> None:
        store = MemoryStore()
        here, there = checker(store), checker(store)
        await here.check(TENANT, "s", [user("An old task.")], source=HERE, start=True)
        await store.prune(older_than=None, keep=0)
        await there.check(TENANT, "s", [user("A new task.")], source=HERE, start=True)
        (task,) = (await here.finder.newest(TENANT, "s")).state.tasks
        assert task.text == "A new task."

    run(work())


@pytest.mark.parametrize("texts", [True, False])
def test_a_session_does_not_grow_without_end(texts: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("taskshield.server.sessions.snapshot_store._LONGEST", 10_000)

    async def work() -> None:
        one = checker(redaction=TextRedaction(texts=texts))
        spec = ToolSpec(name="read_file", parameters={"title": "x" * 8_000})
        await one.create_session(TENANT, id="s", tools=[spec])
        more = [replace(spec, name="write_file")]
        with pytest.raises(RequestError, match="too large"):
            await one.check(TENANT, "s", [user()], source=HERE, tools=more)
        assert (await one.finder.newest(TENANT, "s")).state.messages == 0
        await one.check(TENANT, "s", [user()], source=HERE)

    run(work())


def test_the_cache_holds_few_large_sessions() -> None:
    async def work() -> None:
        # Without stored texts, what left the cache is gone.
        one = checker(redaction=TextRedaction(texts=False), cached_bytes=200_000)
        spec = ToolSpec(name="read_file", parameters={"title": "x" * 8_000})
        for id in ("a", "b", "c"):
            await one.create_session(TENANT, id=id, tools=[spec])
        for id in ("b", "c"):
            await one.finder.newest(TENANT, id)
        with pytest.raises(RequestError, match="does not store texts"):
            await one.finder.newest(TENANT, "a")

    run(work())


def snapshots_of(store: MemoryStore) -> SnapshotStore:
    return SnapshotStore(store, TextRedaction(), cached=10)


def test_an_update_starts_over_from_the_snapshot_that_another_request_stored() -> None:
    async def work() -> None:
        store = MemoryStore()
        here, there = snapshots_of(store), snapshots_of(store)
        first = new_snapshot(TENANT, "s")
        found: list[int | None] = []

        async def find(outdated: SessionSnapshot | None) -> SessionSnapshot:
            found.append(None if outdated is None else outdated.version)
            return await here.load(TENANT, "s") or first

        async def name(snapshot: SessionSnapshot) -> SnapshotChange:
            if snapshot.version == 0:
                await there.write(first, SnapshotChange(content=first.content))
            return SnapshotChange(content=replace(snapshot.content, names=("n",)))

        written, change = await here.update(find, name)
        assert found == [None, 0]
        assert (written.version, written.content) == (2, change.content)

    run(work())


def test_an_update_gives_up_after_five_tries() -> None:
    async def work() -> None:
        store = Failing()
        store.conflicts = 5
        first = new_snapshot(TENANT, "s")
        tries = 0

        async def find(outdated: SessionSnapshot | None) -> SessionSnapshot:
            nonlocal tries
            tries += 1
            return first

        async def unchanged(snapshot: SessionSnapshot) -> SnapshotChange:
            return SnapshotChange(content=snapshot.content)

        with pytest.raises(StoreConflict, match="changed five times"):
            await snapshots_of(store).update(find, unchanged)
        assert (tries, store.conflicts) == (5, 0)

    run(work())


def test_the_store_gets_the_content_and_a_summary_of_the_records() -> None:
    async def work() -> None:
        store = MemoryStore()
        checked = await checker(store).check(
            TENANT, "s", HIJACKED.messages, source=HERE, start=True
        )
        kept = await store.session(TENANT, "s")
        assert kept is not None
        assert (kept.version, kept.messages, kept.blocked, kept.surface) == (1, 5, 1, "test")
        loaded = await snapshots_of(store).load(TENANT, "s")
        assert loaded is not None
        assert (loaded.content, loaded.summary) == (
            checked.snapshot.content,
            checked.snapshot.summary,
        )

    run(work())
