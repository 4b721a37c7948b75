"""Keys, of which only hashes are kept."""

from datetime import timedelta

import pytest

from taskshield.core.errors import StoreError
from taskshield.core.store import Store
from tests.stores.rows import KEY, NOW, SOON, key, stored


@stored
async def test_a_key_is_found_by_its_hash(store: Store) -> None:
    other = key(id="k2", hash="77", scopes=frozenset(), per_minute=None, expires_at=SOON)
    await store.add_key(KEY)
    await store.add_key(other)
    assert await store.key("5e88") == KEY
    assert await store.key("77") == other
    assert await store.key("5e8") is None


@stored
async def test_keys_are_listed_of_one_tenant_or_of_all(store: Store) -> None:
    later = key(id="k0", tenant="b", hash="b", created_at=NOW + timedelta(seconds=1))
    await store.add_key(later)
    await store.add_key(KEY)
    assert await store.keys() == (KEY, later)
    assert await store.keys("b") == (later,)
    assert await store.keys("c") == ()


@stored
async def test_a_key_is_revoked_once(store: Store) -> None:
    await store.add_key(KEY)
    assert await store.revoke_key("k1")
    assert not await store.revoke_key("k1")
    assert not await store.revoke_key("k2")
    found = await store.key("5e88")
    assert found is not None and found.revoked_at is not None and found.revoked_at >= NOW


@pytest.mark.parametrize("fields", [{"id": "k2"}, {"hash": "other"}])
def test_a_second_key_with_the_same_id_or_hash_is_refused(url: str, fields: dict[str, str]) -> None:
    @stored
    async def body(store: Store) -> None:
        await store.add_key(KEY)
        with pytest.raises(StoreError, match="already holds"):
            await store.add_key(key(**fields))
        assert await store.keys() == (KEY,)

    body(url)
