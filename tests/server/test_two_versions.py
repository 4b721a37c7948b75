"""Two releases on one Postgres under load: rolling forward and back, and nothing is lost."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from taskshield.core.session_parts import document_version
from taskshield.stores.open_store import open_store
from tests.engine.sessions import run
from tests.server.mixed_releases import Figures, Traffic, earlier, later, now
from tests.stores.postgres_server import PostgresServer

MESSAGES = 240
TALKS = 12


@pytest.fixture(scope="module")
def postgres() -> Iterator[PostgresServer]:
    server = PostgresServer()
    try:
        yield server
    finally:
        server.remove()


def check(figures: Figures) -> None:
    assert figures.refused == {}
    assert (figures.unreadable, figures.lost, figures.changed) == (0, 0, 0)
    assert figures.messages == MESSAGES
    assert figures.replayed == 2 * MESSAGES
    assert figures.after_roll_back > 0


async def format_of(store: str) -> int:
    opened = await open_store(store)
    try:
        return document_version(opened)
    finally:
        await opened.aclose()


def test_release_0_1_0_and_this_one_share_a_store_of_0_1_0(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    store = postgres.new_url()
    check(Traffic(store, earlier(tmp_path), now(), talks=TALKS).run(MESSAGES))
    assert run(format_of(store)) == 1


def test_this_release_and_a_later_one_share_a_new_store(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    store = postgres.new_url()
    check(Traffic(store, now(), later(tmp_path), talks=TALKS).run(MESSAGES))
    assert run(format_of(store)) == 2
