"""What is forgotten, and what is not."""

from datetime import timedelta

import pytest

from taskshield.core.store import AuditQuery, Store
from tests.stores.rows import AGES_AGO, KEY, NOW, approval, label, record, session, stored

YEAR = timedelta(days=365)


async def fill(store: Store, tenant: str, count: int, *, old: int = 0) -> None:
    """Sessions, each with a record and an approval; the first few are old."""
    for number in range(count):
        at = (AGES_AGO if number < old else NOW) + timedelta(seconds=number)
        id = f"{number:04}"
        own = {"tenant": tenant, "id": id}
        await store.commit(
            session(**own, created_at=at, updated_at=at),
            [record(**own, at=at)],
            [approval(**own, created_at=at)],
        )


async def left(store: Store, tenant: str) -> tuple[list[str], list[str], list[str]]:
    sessions = await store.sessions(tenant, limit=9000)
    records = await store.search(tenant, AuditQuery(), limit=9000)
    approvals = await store.approvals(tenant, limit=9000)
    return (
        [each.id for each in sessions.items],
        [each.id for each in records.items],
        [each.id for each in approvals.items],
    )


@stored
async def test_what_is_too_old_is_forgotten(store: Store) -> None:
    await fill(store, "a", 4, old=3)
    await fill(store, "b", 2, old=1)
    assert await store.prune(older_than=YEAR, keep=None) == 3 * (3 + 1)
    assert await left(store, "a") == (["0003"],) * 3
    assert await left(store, "b") == (["0001"],) * 3
    assert await store.prune(older_than=YEAR, keep=None) == 0


@stored
async def test_what_is_too_much_is_forgotten_for_each_tenant(store: Store) -> None:
    await fill(store, "a", 5)
    await fill(store, "b", 1)
    assert await store.prune(older_than=None, keep=2) == 3 * 3
    assert await left(store, "a") == (["0004", "0003"],) * 3
    assert await left(store, "b") == (["0000"],) * 3


@stored
async def test_both_limits_hold_at_once(store: Store) -> None:
    await fill(store, "a", 6, old=2)
    assert await store.prune(older_than=YEAR, keep=3) == 3 * 3
    assert await left(store, "a") == (["0005", "0004", "0003"],) * 3


@stored
async def test_without_limits_nothing_is_forgotten(store: Store) -> None:
    await fill(store, "a", 2, old=2)
    assert await store.prune(older_than=None, keep=None) == 0
    assert await left(store, "a") == (["0001", "0000"],) * 3


@stored
async def test_all_can_be_forgotten_but_keys(store: Store) -> None:
    await fill(store, "a", 2)
    await store.commit(session(tenant="a", id="0000", version=2), [], [], ["resp"])
    await store.add_key(KEY)
    assert await store.prune(older_than=None, keep=0) == 3 * 2 + 1
    assert await left(store, "a") == ([], [], [])
    assert await store.named("a", ["resp"]) == {}
    assert await store.keys() == (KEY,)


@stored
async def test_labels_are_forgotten_with_the_rest(store: Store) -> None:
    for number, id in enumerate("abc"):
        at = (AGES_AGO if id == "a" else NOW) + timedelta(seconds=number)
        await store.set_label(label(decision=id, at=at))
    assert await store.prune(older_than=YEAR, keep=None) == 1
    assert await store.prune(older_than=None, keep=1) == 1
    assert [each.decision for each in (await store.labels("acme")).items] == ["c"]


@stored
async def test_a_forgotten_session_can_begin_again(store: Store) -> None:
    await fill(store, "a", 1, old=1)
    await store.prune(older_than=YEAR, keep=None)
    await store.commit(session(tenant="a", id="0000"), [])
    assert await store.session("a", "0000") is not None


@pytest.mark.parametrize(
    "limits", [{"older_than": YEAR, "keep": None}, {"older_than": None, "keep": 7}]
)
def test_more_than_a_batch_is_forgotten(
    url: str, limits: dict[str, timedelta | int | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("taskshield.stores.sql.store._BATCH", 5)

    @stored
    async def body(store: Store) -> None:
        await fill(store, "a", 30, old=23)
        assert await store.prune(**limits) == 3 * 23  # type: ignore[arg-type]
        assert [len(ids) for ids in await left(store, "a")] == [7, 7, 7]

    body(url)
