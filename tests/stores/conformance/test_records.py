"""Search in the audit records."""

from datetime import timedelta

import pytest

from taskshield.core.errors import WireFormatError
from taskshield.core.store import AuditQuery, Store, Tally
from taskshield.core.tools import Tier
from tests.stores.rows import NOW, SESSION, record, stored

SECOND = timedelta(seconds=1)


@stored
async def test_records_of_one_moment_are_ordered_by_number(store: Store) -> None:
    records = [record(id=id, number=number) for number, id in enumerate("zyxab")]
    await store.commit(SESSION, [*records, record(id="later", number=0, at=NOW + SECOND)])
    found = await store.search("acme", AuditQuery())
    assert [each.id for each in found.items] == ["later", "b", "a", "x", "y", "z"]
    first = await store.search("acme", AuditQuery(), limit=3)
    rest = await store.search("acme", AuditQuery(), limit=3, after=first.next)
    assert first.items + rest.items == found.items and rest.next is None


QUERIES = [
    (AuditQuery(), "gfedcba"),
    (AuditQuery(session="s2"), "b"),
    (AuditQuery(action="block"), "c"),
    (AuditQuery(check="failed"), "d"),
    (AuditQuery(tier=Tier.FINANCIAL), "ec"),
    (AuditQuery(judge="cascade"), "e"),
    (AuditQuery(surface="azure"), "f"),
    (AuditQuery(agent="clerk"), "g"),
    (AuditQuery(tier=Tier.FINANCIAL, action="block"), "c"),
    (AuditQuery(tier=Tier.ACCESS), ""),
    (AuditQuery(since=NOW + 2 * SECOND), "gfedc"),
    (AuditQuery(until=NOW + 2 * SECOND), "ba"),
    (AuditQuery(since=NOW + SECOND, until=NOW + 2 * SECOND), "b"),
]


@pytest.mark.parametrize(("query", "ids"), QUERIES)
def test_records_are_found_by_each_filter(url: str, query: AuditQuery, ids: str) -> None:
    given = {
        "a": record(),
        "b": record(session="s2"),
        "c": record(action="block", tier=Tier.FINANCIAL),
        "d": record(check="failed"),
        "e": record(judge="cascade", tier=Tier.FINANCIAL),
        "f": record(surface="azure"),
        "g": record(agent="clerk"),
    }

    @stored
    async def body(store: Store) -> None:
        records = [
            record(
                **{name: getattr(each, name) for name in each.__slots__}
                | {"id": id, "at": NOW + number * SECOND}
            )
            for number, (id, each) in enumerate(given.items())
        ]
        await store.commit(SESSION, records)
        found = await store.search("acme", query)
        assert "".join(each.id for each in found.items) == ids

    body(url)


WORDS = [
    ("PAY", "Pay the bill"),
    ("100%", "100% of it"),
    ("snake_case", "snake_case"),
    ("STRASSE", "die Straße"),
    ("ÄRGER", "viel ärger"),
    ("\\", "back\\slash"),
    ("*", "a * b"),
    ("nul\0", "a nul\0 byte"),
    ("\ud800", "half \ud800 a pair"),
]


@stored
async def test_words_are_found_whatever_the_case_and_are_no_pattern(store: Store) -> None:
    texts = [text for _, text in WORDS]
    await store.commit(SESSION, [record(id=f"d{i}", summary=text) for i, text in enumerate(texts)])
    for words, text in WORDS:
        found = await store.search("acme", AuditQuery(words=words))
        assert [each.summary for each in found.items] == [text]
    for words in ("1_0%", "p%y", "p?y", "x" * 100_000):
        assert (await store.search("acme", AuditQuery(words=words))).items == ()
    assert len((await store.search("acme", AuditQuery(words=""))).items) == len(WORDS)


@stored
async def test_records_without_texts(store: Store) -> None:
    bare = record(summary="", case=None)
    await store.commit(SESSION, [bare])
    assert await store.decision("acme", "d1") == bare


@stored
async def test_a_session_is_read_in_the_order_in_which_it_was_said(store: Store) -> None:
    # Two messages with the same time, and one that was stored late.
    times = {0: NOW, 1: NOW, 2: NOW + 9 * SECOND, 3: NOW + SECOND, 4: NOW + SECOND}
    records = [record(id=f"d{n}", number=n, at=at) for n, at in reversed(times.items())]
    others = [record(id="x", session="s2"), record(id="y", tenant="evil")]
    await store.commit(SESSION, [*records, *others])
    said = await store.timeline("acme", "s1")
    assert [each.number for each in said] == [0, 1, 2, 3, 4]
    assert said[0] == records[-1]
    some = await store.timeline("acme", "s1", after=1, limit=2)
    assert [each.number for each in some] == [2, 3]
    assert await store.timeline("acme", "s1", after=4) == ()
    assert await store.timeline("evil", "s2") == ()
    with pytest.raises(WireFormatError, match="limit"):
        await store.timeline("acme", "s1", limit=0)


@stored
async def test_tallies_are_read_without_whole_records(store: Store) -> None:
    counted = record(
        id="new",
        at=NOW + SECOND,
        action="block",
        check="failed",
        tier=Tier.FINANCIAL,
        tools=("send_money", "\ud800"),
        llm_calls=2,
        llm_tokens=300,
    )
    old = record(id="old", at=NOW - SECOND)
    await store.commit(SESSION, [counted, old, record(), record(id="x", tenant="evil")])
    assert await store.decision("acme", "new") == counted
    tallies = await store.tallies("acme", since=NOW, limit=9)
    assert [tally.at for tally in tallies] == [NOW + SECOND, NOW]
    assert tallies[0] == Tally(
        at=counted.at,
        surface="native",
        action="block",
        check="failed",
        tier=Tier.FINANCIAL,
        tools=("send_money", "\ud800"),
        elapsed_ms=1.25,
        llm_calls=2,
        llm_tokens=300,
    )
    assert await store.tallies("acme", since=NOW, limit=1) == tallies[:1]
