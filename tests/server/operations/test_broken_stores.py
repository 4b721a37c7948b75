"""Databases that are broken while a server runs on them.

Whatever is wrong, no check passes, /readyz names the state and says what to do, and the server
works again by itself once the cause has gone. The databases are real, and so are their errors.
"""

import asyncio
import logging
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import asyncpg
import pytest
from sqlalchemy import Connection, Engine, event

from tests.server.operations.broken_stores import Server, server_on
from tests.stores.conftest import sqlite_url
from tests.stores.postgres_server import PostgresServer
from tests.stores.sql.test_sqlite import HOLDER

__all__ = ["sqlite_url"]
CLOSED = (503, "store_unavailable")


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("taskshield.stores.sql.sqlite._BUSY_MS", 20)
    monkeypatch.setattr("taskshield.stores.sql.noted_failures._COUNTS_S", 0.0)
    monkeypatch.setattr("taskshield.stores.sql.postgres._LOCK_TIMEOUT", "SET lock_timeout = '50ms'")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@contextmanager
def every_transaction(statement: str) -> Iterator[None]:
    """Have SQLite run this before every transaction."""

    def begun(connection: Connection) -> None:
        connection.exec_driver_sql(statement)

    event.listen(Engine, "begin", begun)
    try:
        yield
    finally:
        event.remove(Engine, "begin", begun)


def fails_closed(server: Server, state: str, advice: str) -> None:
    """No check passes, and /readyz says why."""
    assert server.check("during") == CLOSED
    assert advice in server.wait_for(state)


def works_again(server: Server) -> None:
    server.wait_until_ready()
    assert server.check("after") == (200, None)


def test_a_full_disk_under_sqlite(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("taskshield.stores.sql.noted_failures._COUNTS_S", 3600.0)
    with server_on(sqlite_url) as server:
        with every_transaction("PRAGMA max_page_count = 1"):  # as many as there are
            with caplog.at_level(logging.ERROR, "taskshield.server"):
                assert server.check("during", "x" * 100_000) == CLOSED
                # A ping alone would succeed: it needs no new page.
                assert "Make room" in server.wait_for("full")
                server.state()
        logged = [record.getMessage() for record in caplog.records]
        assert logged.count("store cannot be used") == 1
        monkeypatch.setattr("taskshield.stores.sql.noted_failures._COUNTS_S", 0.0)
        with caplog.at_level(logging.INFO, "taskshield.server"):
            works_again(server)
        assert "the store works again" in [record.getMessage() for record in caplog.records]


def test_an_sqlite_file_that_can_only_be_read(sqlite_url: str) -> None:
    with server_on(sqlite_url) as server:
        with every_transaction("PRAGMA query_only = 1"):
            fails_closed(server, "read-only", "Make it writable")
        with every_transaction("PRAGMA query_only = 0"):
            works_again(server)


def test_an_sqlite_file_that_another_process_has_locked(path: Path, sqlite_url: str) -> None:
    with server_on(sqlite_url) as server:
        with subprocess.Popen(
            [sys.executable, "-c", HOLDER, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as holder:
            assert holder.stdout is not None and holder.stdout.readline() == b"locked\n"
            fails_closed(server, "locked", "Stop the other process")
            holder.communicate(b"\n")
        works_again(server)


def test_an_sqlite_file_that_was_removed(path: Path, sqlite_url: str) -> None:
    with server_on(sqlite_url) as server:
        os.remove(path)
        fails_closed(server, "removed", "restart the server")
    with server_on(sqlite_url) as server:
        works_again(server)


def test_sqlite_tables_that_are_changed_while_the_server_runs(path: Path, sqlite_url: str) -> None:
    with server_on(sqlite_url) as server, closing(sqlite3.connect(path)) as other:
        other.execute("ALTER TABLE taskshield_sessions RENAME TO gone")
        fails_closed(server, "tables", "taskshield db check")
        other.execute("ALTER TABLE gone RENAME TO taskshield_sessions")
        works_again(server)


def test_an_sqlite_file_with_overwritten_pages(
    path: Path, sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("taskshield.stores.sql.noted_failures._COUNTS_S", 3600.0)
    with server_on(sqlite_url) as server:
        works_again(server)
    with closing(sqlite3.connect(path)) as file:
        wanted = "SELECT rootpage FROM sqlite_master WHERE tbl_name = 'taskshield_sessions'"
        pages = [page for (page,) in file.execute(wanted) if page]
        (size,) = file.execute("PRAGMA page_size").fetchone()
    with path.open("r+b") as opened:
        for page in pages:
            opened.seek((page - 1) * size)
            opened.write(b"\xa5" * size)
    with server_on(sqlite_url, ready=False) as server:
        fails_closed(server, "damaged", "taskshield db repair")


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    """A Postgres server that only these tests use, because they break it."""
    server = PostgresServer()
    try:
        yield server
    finally:
        server.remove()


class Other:
    """Another client of the Postgres server."""

    def __init__(self, runner: asyncio.Runner, url: str) -> None:
        self._runner = runner
        self._connection = runner.run(asyncpg.connect(url))

    def run(self, *statements: str) -> None:
        for statement in statements:
            self._runner.run(self._connection.execute(statement))

    def close(self) -> None:
        self._runner.run(self._connection.close())

    def value(self, query: str) -> str:
        return str(self._runner.run(self._connection.fetchval(query)))


@pytest.fixture
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


def test_a_postgres_server_that_goes_away(server: PostgresServer) -> None:
    with server_on(server.new_url()) as guard:
        server.stop()
        fails_closed(guard, "unreachable", "Start the database server")
        server.start()
        works_again(guard)


def test_a_postgres_server_without_free_connections(
    server: PostgresServer, runner: asyncio.Runner
) -> None:
    with server_on(server.new_url()) as guard:
        others: list[Other] = []

        def take_all() -> str:
            """Take all connections that are free; the ids of their processes."""
            with suppress(asyncpg.PostgresError):
                while True:
                    others.append(Other(runner, server.url()))
            return ", ".join(other.value("SELECT pg_backend_pid()") for other in others)

        its_own = (
            "FROM pg_stat_activity WHERE backend_type = 'client backend'"
            f" AND pid NOT IN ({take_all()})"
        )
        others[0].run(f"SELECT pg_terminate_backend(pid) {its_own}")
        while others[0].value(f"SELECT count(*) {its_own}") != "0":
            pass
        take_all()
        fails_closed(guard, "connections", "max_connections")
        for other in others:
            other.close()
        works_again(guard)


def test_a_postgres_database_that_can_only_be_read(
    server: PostgresServer, runner: asyncio.Runner
) -> None:
    with server_on(server.new_url()) as guard:
        other = Other(runner, f"{server.url()}&default_transaction_read_only=off")
        other.run("ALTER SYSTEM SET default_transaction_read_only = on", "SELECT pg_reload_conf()")
        guard.wait_for("read-only")
        fails_closed(guard, "read-only", "Make it writable")
        other.run("ALTER SYSTEM RESET default_transaction_read_only", "SELECT pg_reload_conf()")
        works_again(guard)
        other.close()


def test_a_full_disk_under_postgres(server: PostgresServer, runner: asyncio.Runner) -> None:
    url = server.new_url()
    with server_on(url) as guard:
        other = Other(runner, url)
        # What Postgres raises where a table cannot grow; the ping needs no new page.
        other.run(
            "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS"
            " $$ BEGIN RAISE EXCEPTION USING ERRCODE = 'disk_full'; END $$",
            "CREATE TRIGGER full_disk BEFORE INSERT ON taskshield_sessions"
            " FOR EACH ROW EXECUTE FUNCTION full_disk()",
        )
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("taskshield.stores.sql.noted_failures._COUNTS_S", 3600.0)
            fails_closed(guard, "full", "Make room")
        other.run("DROP TRIGGER full_disk ON taskshield_sessions")
        works_again(guard)
        other.close()


def test_postgres_tables_that_another_session_has_locked(
    server: PostgresServer, runner: asyncio.Runner
) -> None:
    url = server.new_url()
    with server_on(url) as guard:
        other = Other(runner, url)
        other.run("BEGIN", "LOCK TABLE taskshield_sessions")
        fails_closed(guard, "locked", "Stop the other process")
        other.run("ROLLBACK")
        works_again(guard)
        other.close()


def test_postgres_tables_that_are_changed_while_the_server_runs(
    server: PostgresServer, runner: asyncio.Runner
) -> None:
    url = server.new_url()
    with server_on(url) as guard:
        other = Other(runner, url)
        other.run("ALTER TABLE taskshield_sessions RENAME TO gone")
        fails_closed(guard, "tables", "taskshield db check")
        other.run("ALTER TABLE gone RENAME TO taskshield_sessions")
        works_again(guard)
        other.close()


def test_a_postgres_table_with_overwritten_pages(
    server: PostgresServer, runner: asyncio.Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("taskshield.stores.sql.noted_failures._COUNTS_S", 3600.0)
    url = server.new_url()
    with server_on(url) as guard:
        works_again(guard)
    other = Other(runner, url)
    other.run("CHECKPOINT")
    file = other.value("SELECT pg_relation_filepath('taskshield_sessions')")
    other.close()
    server.stop()
    table = server.data / file
    table.write_bytes(b"\xa5" * table.stat().st_size)
    server.start()
    with server_on(url, ready=False) as guard:
        fails_closed(guard, "damaged", "Restore a backup")
