"""Rows to put into stores, and stores to put them into."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from taskshield.core.store import (
    ApiKey,
    Approval,
    AuditRecord,
    Label,
    Login,
    Store,
    StoredSession,
)
from taskshield.stores.open_store import open_store

NOW = datetime.now(UTC)
AGES_AGO = NOW - timedelta(days=400)
SOON = NOW + timedelta(hours=1)

SESSION = StoredSession(
    tenant="acme", id="s1", version=1, state='{"id": "s1"}', created_at=NOW, updated_at=NOW
)
RECORD = AuditRecord(
    id="d1",
    tenant="acme",
    session="s1",
    number=0,
    at=NOW,
    surface="native",
    level="assistant",
    action="allow",
    check="executed",
    tier=None,
    judge="embedded",
    elapsed_ms=1.25,
    summary="assistant - read_mail",
    case='{"id": "d1"}',
    digest="abc",
)
APPROVAL = Approval(
    id="a1",
    tenant="acme",
    session="s1",
    decision="d1",
    summary="pay the bill",
    created_at=NOW,
    deadline=SOON,
)
KEY = ApiKey(
    id="k1",
    tenant="acme",
    name="laptop",
    hash="5e88",
    scopes=frozenset({"check", "admin"}),
    per_minute=60,
    created_at=NOW,
)

LABEL = Label(tenant="acme", decision="d1", label="wrong", note="", by="alice", at=NOW)
LOGIN = Login(id="l1", key="5e88", created_at=NOW, expires_at=SOON)


def session(**fields: Any) -> StoredSession:
    return replace(SESSION, **fields)


def record(**fields: Any) -> AuditRecord:
    return replace(RECORD, **fields)


def approval(**fields: Any) -> Approval:
    return replace(APPROVAL, **fields)


def key(**fields: Any) -> ApiKey:
    return replace(KEY, **fields)


def label(**fields: Any) -> Label:
    return replace(LABEL, **fields)


def login(**fields: Any) -> Login:
    return replace(LOGIN, **fields)


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Store]:
    store = await open_store(url)
    try:
        yield store
    finally:
        await store.aclose()


def stored(test: Callable[[Store], Awaitable[None]]) -> Callable[[str], None]:
    """A test that is run with every kind of store."""

    def run(url: str) -> None:
        async def body() -> None:
            async with opened(url) as store:
                await test(store)

        asyncio.run(body())

    # Not functools.wraps: pytest would look through it and see the parameters of the inner one.
    run.__name__ = test.__name__
    return run
