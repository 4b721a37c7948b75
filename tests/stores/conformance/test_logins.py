"""Logins, of which only hashes are kept, and only for their time."""

import pytest

from taskshield.core.errors import StoreError
from taskshield.core.store import Store
from tests.stores.rows import AGES_AGO, LOGIN, login, stored


@stored
async def test_a_login_is_found_until_it_is_removed(store: Store) -> None:
    await store.add_login(LOGIN)
    await store.add_login(login(id="l2"))
    assert await store.login("l1") == LOGIN
    assert await store.login("l") is None
    await store.remove_login("l1")
    await store.remove_login("l1")
    assert await store.login("l1") is None
    assert await store.login("l2") == login(id="l2")


@stored
async def test_a_login_that_has_expired_is_none_and_is_forgotten(store: Store) -> None:
    await store.add_login(login(id="old", expires_at=AGES_AGO))
    await store.add_login(LOGIN)
    assert await store.login("old") is None
    assert await store.prune(older_than=None, keep=None) == 1
    assert await store.login("l1") == LOGIN
    await store.add_login(login(id="old"))  # it was really forgotten


@stored
async def test_a_second_login_with_the_same_id_is_refused(store: Store) -> None:
    await store.add_login(LOGIN)
    with pytest.raises(StoreError, match="already holds"):
        await store.add_login(login(key="other"))
    assert await store.login("l1") == LOGIN
