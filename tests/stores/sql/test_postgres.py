"""Postgres' own ways to fail. One server is stopped and started, so it is not the shared one."""

import asyncio
from collections.abc import Iterator
from urllib.parse import quote

import pytest

from taskshield.core.errors import ConfigError, StoreError
from taskshield.stores.open_store import open_store
from tests.stores.postgres_server import PASSWORD, PostgresServer
from tests.stores.rows import RECORD, SESSION, opened, record, session


@pytest.fixture
def own_server() -> Iterator[PostgresServer]:
    server = PostgresServer()
    try:
        yield server
    finally:
        server.remove()


def test_a_server_that_goes_away_and_comes_back(own_server: PostgresServer) -> None:
    async def body() -> None:
        url = own_server.new_url()
        async with opened(url) as store:
            await store.commit(SESSION, [RECORD])
            await asyncio.gather(*(store.ping() for _ in range(4)))  # several idle connections
            own_server.stop()
            for attempt in (
                store.session("acme", "s1"),
                store.commit(session(version=2), [record(id="d2")]),
                store.ping(),
            ):
                with pytest.raises(StoreError, match="The store cannot be used") as caught:
                    await attempt
                assert PASSWORD not in str(caught.value)
            with pytest.raises(StoreError):
                await open_store(url)
            own_server.start()
            await store.ping()
            assert await store.session("acme", "s1") == SESSION
            await store.commit(session(version=2), [record(id="d2")])

    asyncio.run(body())


@pytest.mark.parametrize("database", ["none", "postgres"])
def test_what_postgres_refuses(postgres: PostgresServer, database: str) -> None:
    wrong = "" if database == "none" else "another-secret"
    url = postgres.url(database, password=wrong or PASSWORD)
    expected = "refused the user or the password" if wrong else "the database does not exist"
    with pytest.raises(StoreError, match=expected) as caught:
        asyncio.run(open_store(url))
    assert PASSWORD not in str(caught.value) and "another-secret" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://user:hunter2@host:port/name",
        "postgresql://user:hunter2@host:99999999/name",
        "postgresql://user:hunter2@host/name?sslmode=perhaps",
        "postgresql://user:hunter2@[::1/name",
        "postgresql://user:hunter2@a,b:1,2,3/name",
    ],
)
def test_urls_that_postgres_does_not_understand(url: str) -> None:
    with pytest.raises((ConfigError, StoreError)) as caught:
        asyncio.run(open_store(url))
    assert "hunter2" not in str(caught.value)
    assert caught.value.__cause__ is None and caught.value.__suppress_context__


def test_the_password_may_be_in_a_variable(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in deploy/compose.yaml: there it needs no quoting."""
    password = quote(PASSWORD, safe="")
    assert f":{password}@" in postgres_url

    async def body() -> None:
        async with opened(postgres_url.replace(f":{password}@", "@")) as store:
            await store.ping()

    monkeypatch.setenv("PGPASSWORD", "another")
    with pytest.raises(StoreError):
        asyncio.run(body())
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    asyncio.run(body())


def test_a_database_that_may_only_be_read(postgres_url: str) -> None:
    async def body() -> None:
        async with opened(postgres_url) as store:
            await store.commit(SESSION, [])
        async with opened(f"{postgres_url}&default_transaction_read_only=on") as store:
            assert await store.session("acme", "s1") == SESSION
            with pytest.raises(StoreError, match="read-only"):
                await store.ping()
            with pytest.raises(StoreError, match="read-only"):
                await store.commit(session(version=2), [])

    asyncio.run(body())
