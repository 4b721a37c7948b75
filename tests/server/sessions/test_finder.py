from dataclasses import replace

import pytest

from taskshield.core.messages import Message
from taskshield.server.http.errors import RequestError
from taskshield.server.sessions.audit_records import TextRedaction
from taskshield.server.sessions.finder import SnapshotFinder
from taskshield.server.sessions.judgement import CheckResult
from taskshield.server.sessions.snapshot_store import SnapshotStore
from taskshield.server.sessions.snapshots import new_snapshot
from taskshield.stores.memory import MemoryStore
from tests.engine.sessions import run
from tests.server.sessions.stored_sessions import (
    HERE,
    PROXY,
)
from tests.server.stage import (
    TENANT,
    TOOLS,
    call,
    checker,
    conversation,
    outcome,
    output,
    user,
)


def finder(store: MemoryStore, *, seed: str = "rules", texts: bool = True) -> SnapshotFinder:
    snapshots = SnapshotStore(store, TextRedaction(texts=texts), cached=10)
    return SnapshotFinder(store, snapshots, seed=seed, texts=texts, cached=10)


async def stored(store: MemoryStore, *messages: Message, session: str = "s") -> CheckResult:
    """A session with these messages."""
    return await checker(store).check(TENANT, session, messages, source=HERE, start=True)


def test_the_newest_snapshot_of_a_session_is_found_by_its_id() -> None:
    async def work() -> None:
        store = MemoryStore()
        checked = await stored(store, user())
        found = await finder(store).newest(TENANT, "s")
        assert found.content == checked.snapshot.content
        with pytest.raises(RequestError) as caught:
            await finder(store).newest(TENANT, "another session")
        assert caught.value.problem.status == 404

    run(work())


def test_a_session_that_does_not_exist_starts_only_on_request() -> None:
    async def work() -> None:
        find = finder(MemoryStore())
        started = await find.in_session(TENANT, "s", start=True)(None)
        assert (started.id, started.version, started.state.messages) == ("s", 0, 0)
        with pytest.raises(RequestError, match="no such session"):
            await find.in_session(TENANT, "s")(None)

    run(work())


def test_the_newest_snapshot_is_found_again_where_a_request_changed_the_session() -> None:
    async def work() -> None:
        store = MemoryStore()
        first = await stored(store, user())
        find = finder(store).in_session(TENANT, "s")
        assert (await find(None)).version == 1
        await stored(store, call())
        assert (await find(first.snapshot)).version == 2

    run(work())


def test_a_check_starts_from_exactly_the_given_snapshot() -> None:
    async def work() -> None:
        store = MemoryStore()
        first = await stored(store, user())
        await stored(store, call())
        assert await finder(store).after(first.snapshot)(None) is first.snapshot

    run(work())


def test_a_session_with_more_messages_is_forked() -> None:
    async def work() -> None:
        store = MemoryStore()
        first = await stored(store, user())
        await stored(store, call())
        forked = await finder(store).after(first.snapshot)(first.snapshot)
        assert forked.id != "s" and forked.version == 0
        assert forked.state == replace(first.snapshot.state, id=forked.id)

    run(work())


def test_a_session_that_only_got_a_name_is_not_forked() -> None:
    async def work() -> None:
        store = MemoryStore()
        first = await stored(store, user())
        named = await finder(store).remember(first.snapshot, ["n"], first.decisions)
        found = await finder(store).after(first.snapshot)(first.snapshot)
        assert (found.id, found.version) == ("s", named.version) == ("s", 2)

    run(work())


def test_the_longest_known_beginning_of_a_conversation_is_recalled() -> None:
    talk = conversation(user(), call(), output(), user("Thanks."))
    lengths = (1, 3)

    async def work(hop: bool) -> None:
        store = MemoryStore()
        first = finder(store)
        names = await first.names(talk)
        for length in lengths:
            checked = await stored(store, *talk.messages[:length], session=f"s{length}")
            await first.remember(checked.snapshot, [names[length]], checked.decisions)
        second = finder(store) if hop else first
        found = await second.recall(TENANT, names, talk.messages)
        assert found is not None and found.snapshot.id == "s3"
        assert [each.case.message for each in found.decisions] == list(talk.messages[:3])
        assert await second.recall("another tenant", names, talk.messages) is None

    run(work(False))
    run(work(True))


def test_names_depend_on_the_seed_the_tools_and_every_message() -> None:
    talk = conversation(user(), call())
    names = run(finder(MemoryStore()).names(talk))
    assert len(set(names)) == 3
    assert run(finder(MemoryStore()).name_of(talk)) == names[-1]
    longer = replace(talk, messages=(*talk.messages, output()))
    assert run(finder(MemoryStore()).names(longer))[:3] == names
    others = [
        run(finder(MemoryStore(), seed="other rules").names(talk)),
        run(finder(MemoryStore()).names(replace(talk, tools=TOOLS[:1]))),
    ]
    assert all(set(other).isdisjoint(names) for other in others)


def test_without_texts_names_live_in_memory_only() -> None:
    async def work() -> None:
        store = MemoryStore()
        first = finder(store, texts=False)
        start = new_snapshot(TENANT, "s")
        await first.remember(start, ["n"], ())
        assert await first.named(TENANT, "n") is not None
        assert await finder(store, texts=False).named(TENANT, "n") is None

    run(work())


def test_a_snapshot_is_found_by_its_names_until_its_session_moves_on() -> None:
    async def work() -> None:
        store = MemoryStore()
        first = checker(store)
        begun = await first.check_conversation(TENANT, conversation(user()), source=PROXY)
        await first.finder.remember(begun.snapshot, ["response-1"], begun.decisions)
        found = await checker(store).finder.named(TENANT, "response-1")
        assert found is not None and found.snapshot.id == begun.session
        assert outcome(found.decisions) == outcome(begun.decisions)
        assert await checker(store).finder.named("another tenant", "response-1") is None
        await first.check(TENANT, begun.session, [call()], source=PROXY)
        assert await checker(store).finder.named(TENANT, "response-1") is None
        assert (
            await first.finder.named(TENANT, "response-1") is not None
        )  # this process still has it in memory

    run(work())
