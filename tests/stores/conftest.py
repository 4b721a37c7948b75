"""Stores of every kind, each in a place of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.stores.postgres_server import PostgresServer


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    server = PostgresServer()
    try:
        yield server
    finally:
        server.remove()


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/store.db"


@pytest.fixture
def postgres_url(postgres: PostgresServer) -> str:
    return postgres.new_url()


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def url(request: pytest.FixtureRequest) -> str:
    """Every kind of store."""
    return "memory:" if request.param == "memory" else _url(request)


@pytest.fixture(params=["sqlite", "postgres"])
def lasting_url(request: pytest.FixtureRequest) -> str:
    """Every kind of store that outlives its process."""
    return _url(request)


def _url(request: pytest.FixtureRequest) -> str:
    found = request.getfixturevalue(f"{request.param}_url")
    assert isinstance(found, str)
    return found
