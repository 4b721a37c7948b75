"""The small parts: cursors, deadlines, the bounds of a store in memory."""

import asyncio
import json
from base64 import urlsafe_b64encode
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from taskshield.core.errors import StoreError, WireFormatError
from taskshield.core.store import AuditQuery
from taskshield.stores.approval_expiry import as_of
from taskshield.stores.memory import MemoryStore
from taskshield.stores.paging import Place, page, read_cursor
from taskshield.stores.sql.failures import explained
from tests.stores.rows import APPROVAL, SOON, record, session

PLACES = st.builds(
    Place,
    st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=-7))])).filter(
        lambda time: 1 < time.year < 9999
    ),
    st.integers(0, 2**63 - 1),
    st.text(st.characters(exclude_categories=())),
)


@given(PLACES)
def test_a_cursor_is_plain_text_and_leads_back_to_its_place(place: Place) -> None:
    cursor = page([place, place], 1, lambda each: each).next
    assert cursor is not None and cursor.isascii()
    found = read_cursor(cursor)
    if not any("\ud800" <= char <= "\udfff" for char in place.id):  # pairs become one in JSON
        assert found == place


def encoded(value: object) -> str:
    return urlsafe_b64encode(json.dumps(value).encode()).decode()


TIME = "2026-01-01T00:00:00+00:00"


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "é",
        "a",
        "\ud800",
        encoded([]),
        encoded({}),
        encoded("abc"),
        encoded([TIME, 0]),
        encoded([TIME, "0", "id"]),
        encoded([TIME, True, "id"]),
        encoded([TIME, -1, "id"]),
        encoded([TIME, 2**63, "id"]),
        encoded([TIME, 0, 7]),
        encoded([TIME, 0, "id"]) + "AAAA",
        encoded(["2026-01-01T00:00:00", 0, "id"]),
        encoded(["0001-01-01T00:00:00+14:00", 0, "id"]),
        encoded(["yesterday", 0, "id"]),
        urlsafe_b64encode(b"[" * 100_000).decode(),
    ],
)
def test_what_is_not_a_cursor_is_refused(cursor: str) -> None:
    with pytest.raises(WireFormatError, match="not a cursor"):
        read_cursor(cursor)


@given(st.text())
def test_any_text_is_a_cursor_or_refused(text: str) -> None:
    with pytest.raises(WireFormatError):
        read_cursor(text)


def test_an_approval_expires_at_its_deadline_unless_it_is_decided() -> None:
    before = SOON - timedelta(microseconds=1)
    assert as_of(APPROVAL, before).status == "pending"
    assert as_of(APPROVAL, SOON).status == "expired"
    decided = replace(APPROVAL, status="approved")
    assert as_of(decided, SOON) == decided


def test_a_store_in_memory_forgets_what_was_written_longest_ago() -> None:
    async def body() -> None:
        store = MemoryStore(kept=2)
        at = datetime.now(UTC)
        for number, id in enumerate(["a", "b"]):
            await store.commit(session(id=id), [record(id=id, at=at, number=number)])
        await store.commit(session(id="a", version=2), [])
        await store.commit(session(id="c"), [record(id="c", at=at, number=2)])
        assert await store.session("acme", "b") is None
        assert await store.session("acme", "a") is not None
        found = await store.search("acme", AuditQuery())
        assert [each.id for each in found.items] == ["c", "b"]

    asyncio.run(body())


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (PoolTimeout("hunter2"), "too many requests are waiting"),
        (ConnectionRefusedError("hunter2"), r"server cannot be reached \(ConnectionRefusedError\)"),
        (SQLAlchemyError("hunter2"), r"it failed \(SQLAlchemyError\)"),
    ],
)
def test_errors_say_what_is_wrong_without_quoting_anything(error: Exception, message: str) -> None:
    with pytest.raises(StoreError, match=message) as caught, explained():
        raise error
    assert "hunter2" not in str(caught.value) and caught.value.__suppress_context__
