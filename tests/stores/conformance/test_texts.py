"""Texts from outside: none can break a store, and each comes back as it was."""

import asyncio

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from taskshield.core.errors import WireFormatError
from taskshield.core.store import AuditQuery, Store
from taskshield.stores.storable_text import NAME_BYTES, restored, storable
from tests.stores.rows import APPROVAL, SESSION, approval, key, opened, record, session, stored

ANY = st.text(st.characters(exclude_categories=()), max_size=12)
ODD = [
    "\0",
    "\ud800",
    "\udc00\ud800",
    "\ud83d\ude00",
    "\x10",
    "\x100000",
    "'; DROP",
    "%_\\",
    "é😀",
    "",
]


@stored
async def test_odd_names_and_texts_come_back_as_they_were(store: Store) -> None:
    for number, odd in enumerate(ODD):
        new = session(tenant=odd, id=odd, state=odd)
        said = record(tenant=odd, id=odd, session=odd, summary=odd, case=odd, judge=odd)
        asked = approval(tenant=odd, id=odd, session=odd, decision=odd, summary=odd)
        known = key(id=odd, tenant=odd, name=odd, hash=f"{number}{odd}")
        await store.commit(new, [said], [asked], [odd])
        await store.add_key(known)
        assert await store.session(odd, odd) == new
        assert await store.decision(odd, odd) == said
        assert await store.approval(odd, odd) == asked
        assert await store.named(odd, [odd]) == {odd: odd}
        assert await store.key(known.hash) == known
        assert (await store.search(odd, AuditQuery(words=odd))).items == (said,)
        decided = await store.decide(odd, odd, approve=True, by=odd, note=odd)
        assert decided is not None and (decided.decided_by, decided.note) == (odd, odd)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(ANY, min_size=1, max_size=8, unique=True))
def test_any_ids_can_be_paged_through(url: str, texts: list[str]) -> None:
    async def body() -> None:
        async with opened(url) as store:
            await store.prune(older_than=None, keep=0)
            for text in texts:
                await store.commit(session(id=text), [])
            seen, cursor = [], None
            while True:
                page = await store.sessions("acme", after=cursor, limit=1)
                seen += [each.id for each in page.items]
                cursor = page.next
                if cursor is None:
                    break
            assert sorted(seen) == sorted(texts)

    asyncio.run(body())


@given(ANY)
def test_what_is_storable_is_utf_8_without_nul_and_can_be_restored(text: str) -> None:
    kept = storable(text)
    assert b"\0" not in kept.encode()
    assert restored(kept) == text


@given(st.text())
def test_ordinary_texts_are_stored_as_they_are(text: str) -> None:
    if not set(text) & set("\0\x10"):
        assert storable(text) == text


@stored
async def test_names_have_a_longest_length_which_is_the_same_everywhere(store: Store) -> None:
    longest = "é" * (NAME_BYTES // 2)
    long = session(tenant=longest, id=longest)
    said = record(tenant=longest, id=longest, session=longest)
    asked = approval(tenant=longest, id=longest, session=longest)
    await store.commit(long, [said], [asked], [longest])
    assert await store.session(longest, longest) == long
    assert await store.session(longest + "x", longest + "x") is None
    longer = longest + "x"
    with pytest.raises(WireFormatError, match="longer than 512 bytes"):
        await store.commit(session(id=longer), [])
    with pytest.raises(WireFormatError, match="longer than"):
        await store.commit(SESSION, [record(session=longer)])
    with pytest.raises(WireFormatError, match="longer than"):
        await store.commit(SESSION, [], [], [longer])
    with pytest.raises(WireFormatError, match="longer than"):
        await store.add_key(key(tenant=longer))


@stored
async def test_large_texts_fit(store: Store) -> None:
    large = "x" * 3_000_000
    await store.commit(session(state=large), [record(case=large)], [APPROVAL])
    found = await store.session("acme", "s1")
    assert found is not None and found.state == large
