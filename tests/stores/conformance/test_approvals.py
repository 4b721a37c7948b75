"""Approvals: decided once, and only in time."""

import asyncio
from datetime import timedelta

from taskshield.core.store import Store
from tests.stores.rows import AGES_AGO, APPROVAL, NOW, SESSION, approval, stored


@stored
async def test_an_approval_is_decided_once(store: Store) -> None:
    await store.commit(SESSION, [], [APPROVAL])
    first = await store.decide("acme", "a1", approve=True, by="alice", note="fine")
    assert first is not None
    assert (first.status, first.decided_by, first.note) == ("approved", "alice", "fine")
    assert first.decided_at is not None and first.decided_at >= NOW
    assert await store.decide("acme", "a1", approve=False, by="bob") == first
    assert await store.approval("acme", "a1") == first


@stored
async def test_an_approval_can_be_denied(store: Store) -> None:
    await store.commit(SESSION, [], [APPROVAL])
    denied = await store.decide("acme", "a1", approve=False, by="alice")
    assert denied is not None and denied.status == "denied"


@stored
async def test_past_its_deadline_an_approval_has_expired_and_stays_so(store: Store) -> None:
    await store.commit(SESSION, [], [approval(created_at=AGES_AGO, deadline=AGES_AGO)])
    found = await store.approval("acme", "a1")
    assert found is not None and found.status == "expired"
    assert await store.decide("acme", "a1", approve=True, by="alice") == found


@stored
async def test_what_does_not_exist_cannot_be_decided(store: Store) -> None:
    assert await store.decide("acme", "a1", approve=True, by="alice") is None


@stored
async def test_approvals_are_listed_by_status(store: Store) -> None:
    made = [
        approval(id=id, created_at=NOW + timedelta(seconds=number))
        for number, id in enumerate("abcd")
    ]
    made.append(approval(id="e", deadline=AGES_AGO, created_at=NOW + timedelta(seconds=9)))
    await store.commit(SESSION, [], made)
    await store.decide("acme", "b", approve=True, by="alice")
    await store.decide("acme", "c", approve=False, by="alice")
    expected = {"pending": "da", "approved": "b", "denied": "c", "expired": "e"}
    for status, ids in expected.items():
        found = await store.approvals("acme", status=status)  # type: ignore[arg-type]
        assert "".join(each.id for each in found.items) == ids
        assert all(each.status == status for each in found.items)
    first = await store.approvals("acme", limit=2)
    second = await store.approvals("acme", limit=9, after=first.next)
    assert "".join(each.id for each in first.items + second.items) == "edcba"
    assert first.items[0].status == "expired"


@stored
async def test_of_many_decisions_at_once_only_the_first_counts(store: Store) -> None:
    await store.commit(SESSION, [], [APPROVAL])
    answers = await asyncio.gather(
        *(store.decide("acme", "a1", approve=n % 2 == 0, by=f"p{n}") for n in range(6))
    )
    assert len(set(answers)) == 1 and answers[0] is not None
    assert answers[0] == await store.approval("acme", "a1")


@stored
async def test_approvals_are_listed_by_session(store: Store) -> None:
    made = [
        approval(id=id, session=name, created_at=NOW + timedelta(seconds=number))
        for number, (id, name) in enumerate([("a", "s1"), ("b", "s2"), ("c", "s1")])
    ]
    await store.commit(SESSION, [], made)
    await store.decide("acme", "c", approve=True, by="alice")
    found = await store.approvals("acme", session="s1")
    assert [each.id for each in found.items] == ["c", "a"]
    waiting = await store.approvals("acme", session="s1", status="pending")
    assert [each.id for each in waiting.items] == ["a"]
    assert (await store.approvals("acme", session="s3")).items == ()
    assert (await store.approvals("evil", session="s1")).items == ()
