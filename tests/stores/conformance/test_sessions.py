"""Sessions and their other names."""

import asyncio
from datetime import timedelta

import pytest

from taskshield.core.errors import StoreConflict, StoreError, WireFormatError
from taskshield.core.store import AuditQuery, ListedSession, Store
from tests.stores.rows import (
    AGES_AGO,
    APPROVAL,
    NOW,
    RECORD,
    SESSION,
    approval,
    record,
    session,
    stored,
)


@stored
async def test_what_was_committed_comes_back_equal(store: Store) -> None:
    await store.commit(SESSION, [RECORD], [APPROVAL])
    assert await store.session("acme", "s1") == SESSION
    assert await store.decision("acme", "d1") == RECORD
    assert await store.approval("acme", "a1") == APPROVAL


@stored
async def test_what_is_not_there_is_none(store: Store) -> None:
    assert await store.session("acme", "s1") is None
    assert await store.decision("acme", "d1") is None
    assert await store.approval("acme", "a1") is None
    assert await store.named("acme", ["x"]) == {}


@stored
async def test_a_version_follows_the_one_before(store: Store) -> None:
    await store.commit(SESSION, [])
    later = session(version=2, state=None, updated_at=NOW + timedelta(seconds=1))
    await store.commit(later, [])
    assert await store.session("acme", "s1") == later


@stored
async def test_a_session_keeps_the_time_when_it_began(store: Store) -> None:
    await store.commit(SESSION, [])
    await store.commit(session(version=2, created_at=AGES_AGO), [])
    found = await store.session("acme", "s1")
    assert found is not None and found.created_at == NOW


@pytest.mark.parametrize("version", [1, 3, 0, -1])
def test_any_other_version_is_a_conflict_and_nothing_is_written(url: str, version: int) -> None:
    @stored
    async def body(store: Store) -> None:
        await store.commit(SESSION, [])
        with pytest.raises(StoreConflict):
            await store.commit(session(version=version, state="other"), [RECORD], [APPROVAL])
        assert await store.session("acme", "s1") == SESSION
        assert await store.decision("acme", "d1") is None
        assert await store.approval("acme", "a1") is None

    body(url)


@stored
async def test_a_session_that_does_not_exist_has_no_second_version(store: Store) -> None:
    with pytest.raises(StoreConflict):
        await store.commit(session(version=2), [RECORD])
    assert await store.decision("acme", "d1") is None


@stored
async def test_a_row_that_is_there_already_undoes_the_whole_commit(store: Store) -> None:
    await store.commit(SESSION, [RECORD], [APPROVAL])
    for records, approvals in (
        ([record(id="d2"), record(summary="changed")], []),
        ([record(id="d2"), record(id="d2")], []),
        ([record(id="d2")], [approval(note="changed")]),
    ):
        with pytest.raises(StoreError) as caught:
            await store.commit(session(version=2), records, approvals)
        assert not isinstance(caught.value, StoreConflict)
    assert await store.session("acme", "s1") == SESSION
    assert await store.decision("acme", "d1") == RECORD
    assert await store.decision("acme", "d2") is None


@stored
async def test_tenants_do_not_see_each_other(store: Store) -> None:
    await store.commit(SESSION, [RECORD], [APPROVAL], ["resp"])
    own = session(tenant="evil", surface="own")
    await store.commit(own, [record(tenant="evil", summary="own")])
    assert await store.approval("evil", "a1") is None
    assert await store.decide("evil", "a1", approve=True, by="mallory") is None
    assert await store.named("evil", ["resp"]) == {}
    assert (await store.approvals("evil")).items == ()
    assert [each.surface for each in (await store.sessions("evil")).items] == ["own"]
    assert [each.summary for each in (await store.search("evil", AuditQuery())).items] == ["own"]
    assert await store.session("acme", "s1") == SESSION
    assert await store.approval("acme", "a1") == APPROVAL


@stored
async def test_sessions_are_listed_by_when_they_were_last_written(store: Store) -> None:
    for number, id in enumerate("abc"):
        await store.commit(session(id=id, updated_at=NOW + timedelta(seconds=number)), [])
    last = NOW + timedelta(seconds=9)
    await store.commit(session(id="a", version=2, updated_at=last), [])
    assert [each.id for each in (await store.sessions("acme")).items] == ["a", "c", "b"]


@stored
async def test_pages_hold_every_row_once_though_others_come_and_go(store: Store) -> None:
    for number in range(7):
        await store.commit(session(id=f"s{number}"), [])
    seen, cursor = [], None
    for turn in range(9):
        page = await store.sessions("acme", after=cursor, limit=2)
        seen += [each.id for each in page.items]
        await store.commit(session(id=f"new{turn}", updated_at=NOW + timedelta(days=1)), [])
        cursor = page.next
        if cursor is None:
            break
    assert seen == [f"s{number}" for number in reversed(range(7))]


@stored
async def test_a_page_that_is_just_full_is_the_last(store: Store) -> None:
    await store.commit(SESSION, [])
    page = await store.sessions("acme", limit=1)
    assert [each.id for each in page.items] == ["s1"] and page.next is None


@stored
async def test_a_list_shows_what_a_session_is_about_without_its_state(store: Store) -> None:
    await store.commit(SESSION, [])
    shown = {
        "surface": "proxy",
        "agent": "clerk",
        "tasks": ("Pay the \ud800 bill.", ""),
        "messages": 4,
        "blocked": 2,
        "escalated": 1,
        "last_action": "block",
        "last_at": NOW + timedelta(seconds=1),
    }
    later = session(version=2, **shown)
    await store.commit(later, [])
    (listed,) = (await store.sessions("acme")).items
    own = {"tenant": "acme", "id": "s1", "version": 2, "created_at": NOW, "updated_at": NOW}
    assert listed == ListedSession(**own, **shown)  # type: ignore[arg-type]
    assert await store.session("acme", "s1") == later


@stored
async def test_an_invalid_cursor_or_limit_is_refused(store: Store) -> None:
    with pytest.raises(WireFormatError, match="cursor"):
        await store.sessions("acme", after="nonsense")
    with pytest.raises(WireFormatError, match="limit"):
        await store.approvals("acme", limit=0)


@stored
async def test_an_alias_leads_to_the_session_that_got_it_last(store: Store) -> None:
    await store.commit(SESSION, [], [], ["resp_1", "resp_2", "resp_2"])
    await store.commit(session(id="s2"), [], [], ["resp_1"])
    wanted = ["resp_1", "resp_2", "resp_3"]
    assert await store.named("acme", wanted) == {"resp_1": "s2", "resp_2": "s1"}


@stored
async def test_a_write_that_conflicts_stores_no_alias(store: Store) -> None:
    await store.commit(SESSION, [])
    with pytest.raises(StoreConflict):
        await store.commit(SESSION, [], [], ["resp"])
    assert await store.named("acme", ["resp"]) == {}


@stored
async def test_of_many_writes_of_a_version_exactly_one_succeeds(store: Store) -> None:
    async def write(worker: int) -> None:
        written = 0
        while written < 4:
            found = await store.session("acme", "s1")
            version = 1 if found is None else found.version + 1
            new = record(id=f"{worker}-{version}", number=version)
            try:
                await store.commit(session(version=version), [new])
            except StoreConflict:
                continue
            written += 1

    await asyncio.gather(*(write(worker) for worker in range(8)))
    found = await store.session("acme", "s1")
    assert found is not None and found.version == 32
    records = await store.search("acme", AuditQuery(), limit=100)
    assert [each.number for each in records.items] == list(range(32, 0, -1))


@stored
async def test_a_commit_that_is_cancelled_happens_whole_or_not_at_all(store: Store) -> None:
    for number in range(20):
        id = f"s{number}"
        commit = store.commit(session(id=id), [record(id=f"d{number}", session=id)])
        task = asyncio.create_task(commit)
        for _ in range(number):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        written = await store.session("acme", id) is not None
        assert (await store.decision("acme", f"d{number}") is not None) == written
    await store.commit(session(tenant="after"), [])
