"""Labels: what people say of decisions, the last word of each."""

from datetime import timedelta

import pytest

from taskshield.core.errors import WireFormatError
from taskshield.core.store import Store
from tests.stores.rows import LABEL, NOW, label, stored


@stored
async def test_the_last_label_counts(store: Store) -> None:
    await store.set_label(LABEL)
    assert (await store.labels("acme")).items == (LABEL,)
    other = label(label="right", note="\0 \ud800 it was fine", by="bob", at=NOW + timedelta(days=1))
    await store.set_label(other)
    assert (await store.labels("acme")).items == (other,)
    assert await store.labels_of("acme", ["d1", "d2"]) == {"d1": other}


@stored
async def test_a_label_is_taken_back_once(store: Store) -> None:
    await store.set_label(LABEL)
    await store.set_label(label(decision="d2"))
    assert await store.remove_label("acme", "d1")
    assert not await store.remove_label("acme", "d1")
    assert await store.labels_of("acme", ["d1", "d2"]) == {"d2": label(decision="d2")}
    assert await store.labels_of("acme", []) == {}


@stored
async def test_labels_are_listed_newest_first(store: Store) -> None:
    for number, id in enumerate("abcd"):
        await store.set_label(label(decision=id, at=NOW + timedelta(seconds=number)))
    await store.set_label(label(decision="b", at=NOW + timedelta(seconds=9)))
    first = await store.labels("acme", limit=3)
    rest = await store.labels("acme", after=first.next)
    assert "".join(each.decision for each in (*first.items, *rest.items)) == "bdca"
    assert rest.next is None


@stored
async def test_tenants_do_not_see_or_change_labels_of_others(store: Store) -> None:
    await store.set_label(LABEL)
    await store.set_label(label(tenant="evil", label="right"))
    assert not await store.remove_label("other", "d1")
    assert await store.labels_of("other", ["d1"]) == {}
    assert (await store.labels("other")).items == ()
    assert await store.labels_of("acme", ["d1"]) == {"d1": LABEL}
    assert await store.remove_label("evil", "d1")
    assert (await store.labels("acme")).items == (LABEL,)


@stored
async def test_a_name_that_is_too_long_is_refused(store: Store) -> None:
    with pytest.raises(WireFormatError, match="longer than"):
        await store.set_label(label(decision="x" * 513))
