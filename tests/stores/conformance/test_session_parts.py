"""Sessions that are stored as a head and parts."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from taskshield.core.errors import StoreConflict, StoreError
from taskshield.core.session_parts import (
    PartStore,
    SessionHead,
    SessionPart,
    document_version,
)
from taskshield.core.store import Store
from tests.stores.rows import AGES_AGO, NOW, RECORD, SESSION, record, session, stored

HEAD = SessionHead(
    tenant="acme", id="s1", version=1, state='{"version": 2}', created_at=NOW, updated_at=NOW
)
ODD = "a \ud800 and \x00 in it"


def part(kind: str, position: int, text: str = "text") -> SessionPart:
    return SessionPart(kind=kind, position=position, text=text)


def head(**fields: Any) -> SessionHead:
    return replace(HEAD, **fields)


def with_parts(store: Store) -> PartStore:
    assert isinstance(store, PartStore)
    return store


async def keys_of(store: Store, version: int) -> list[tuple[str, int]]:
    return [each.key for each in await with_parts(store).parts("acme", "s1", version)]


@stored
async def test_a_new_store_keeps_parts(store: Store) -> None:
    assert document_version(store) == 2


@stored
async def test_parts_come_back_by_kind_and_position(store: Store) -> None:
    parts = (part("turn", 10), part("turn", 9, ODD), part("tool", 0))
    await store.commit(head(parts=parts), [RECORD])
    assert await with_parts(store).parts("acme", "s1", 1) == (parts[2], parts[1], parts[0])
    assert await store.session("acme", "s1") == session(state='{"version": 2}')


@stored
async def test_a_session_that_continues_writes_only_what_is_new(store: Store) -> None:
    await store.commit(head(parts=(part("turn", 0), part("turn", 1), part("turn", 2))), [])
    changed = (part("turn", 1, "changed"), part("turn", 3))
    removed = (("turn", 0), ("turn", 7))
    await store.commit(head(version=2, whole=False, parts=changed, removed=removed), [])
    found = await with_parts(store).parts("acme", "s1", 2)
    assert found == (changed[0], part("turn", 2), changed[1])


@stored
async def test_a_whole_session_replaces_all_parts(store: Store) -> None:
    await store.commit(head(parts=(part("turn", 0), part("turn", 1))), [])
    await store.commit(head(version=2, parts=(part("task", 0),)), [])
    assert await keys_of(store, 2) == [("task", 0)]


@stored
async def test_a_session_that_is_written_as_one_text_loses_its_parts(store: Store) -> None:
    await store.commit(head(parts=(part("turn", 0),)), [])
    await store.commit(session(version=2), [])
    assert await keys_of(store, 2) == []
    assert await store.session("acme", "s1") == session(version=2)


@stored
async def test_the_parts_of_another_version_are_a_conflict(store: Store) -> None:
    await store.commit(head(parts=(part("turn", 0),)), [])
    for id, version in (("s1", 2), ("s1", 0), ("s2", 1)):
        with pytest.raises(StoreConflict):
            await with_parts(store).parts("acme", id, version)


@stored
async def test_a_conflict_changes_no_part(store: Store) -> None:
    await store.commit(head(parts=(part("turn", 0),)), [RECORD])
    for version in (1, 3):
        other = head(version=version, parts=(part("turn", 0, "x"), part("turn", 1)), whole=False)
        with pytest.raises(StoreConflict):
            await store.commit(other, [])
    with pytest.raises(StoreError):  # its record is there already
        await store.commit(head(version=2, parts=(part("turn", 1),), whole=False), [RECORD])
    assert await with_parts(store).parts("acme", "s1", 1) == (part("turn", 0),)


@stored
async def test_parts_never_continue_another_session_of_the_same_id(store: Store) -> None:
    await store.commit(head(parts=(part("turn", 0),)), [])
    later = head(version=2, created_at=NOW + timedelta(microseconds=1), parts=(part("turn", 1),))
    with pytest.raises(StoreConflict):
        await store.commit(replace(later, whole=False), [])
    assert await keys_of(store, 1) == [("turn", 0)]
    await store.commit(later, [])
    assert await keys_of(store, 2) == [("turn", 1)]
    found = await store.session("acme", "s1")
    assert found is not None and found.created_at == NOW


@stored
async def test_sessions_and_tenants_have_parts_of_their_own(store: Store) -> None:
    await store.commit(head(parts=(part("turn", 0),)), [])
    await store.commit(head(tenant="evil", parts=(part("turn", 0, "own"),)), [])
    await store.commit(head(id="s2", parts=(part("turn", 0, "other"),)), [])
    await store.commit(head(tenant="evil", version=2), [])
    await store.commit(head(id="s2", version=2, removed=(("turn", 0),), whole=False), [])
    assert await with_parts(store).parts("acme", "s1", 1) == (part("turn", 0),)
    assert await with_parts(store).parts("evil", "s1", 2) == ()
    assert await with_parts(store).parts("acme", "s2", 2) == ()


@stored
async def test_the_parts_of_deleted_sessions_are_deleted(store: Store) -> None:
    await store.commit(head(updated_at=AGES_AGO, parts=(part("turn", 0),)), [])
    await store.commit(head(id="s2", parts=(part("turn", 0),)), [record(id="d2", at=AGES_AGO)])
    await store.commit(head(tenant="evil", parts=(part("turn", 0),)), [])
    assert await store.prune(older_than=timedelta(days=365), keep=None) == 2
    await store.commit(head(version=1, whole=False), [])
    assert await keys_of(store, 1) == []
    for tenant, id in (("acme", "s2"), ("evil", "s1")):
        assert len(await with_parts(store).parts(tenant, id, 1)) == 1


@stored
async def test_a_session_without_parts_has_none(store: Store) -> None:
    await store.commit(SESSION, [])
    assert await keys_of(store, 1) == []
