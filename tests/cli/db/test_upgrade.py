"""`taskshield db upgrade`; how it goes on after a failure is tested with the stores."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from taskshield.cli.main import main
from taskshield.core.store import StoredSession
from tests.server.stage import TENANT
from tests.stores.rows import opened
from tests.stores.sql.test_upgrade import fill


def test_a_session_that_cannot_be_read_stays_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url = f"sqlite:///{tmp_path}/store.db"

    async def damage() -> StoredSession:
        ids = await fill(url, 3)
        async with opened(url) as store:
            row = await store.session(TENANT, ids[2])
            assert row is not None and row.state is not None
            damaged = replace(row, version=2, state=row.state[:-20])
            await store.commit(damaged, [])
            return damaged

    async def found(id: str) -> StoredSession | None:
        async with opened(url) as store:
            return await store.session(TENANT, id)

    damaged = asyncio.run(damage())
    assert main(["db", "upgrade", "--store", url]) == 1
    assert "Upgraded 2 sessions. 1 cannot be read" in capsys.readouterr().err
    assert asyncio.run(found(damaged.id)) == damaged


def test_a_store_in_memory_cannot_be_upgraded(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["db", "upgrade", "--store", "memory:"]) == 2
    assert "in memory" in capsys.readouterr().err


def test_a_store_that_is_not_there_is_not_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["db", "upgrade", "--store", f"sqlite:///{tmp_path}/typo.db"]) == 2
    assert "There is no file" in capsys.readouterr().err
    (tmp_path / "empty.db").touch()
    assert main(["db", "upgrade", "--store", f"sqlite:///{tmp_path}/empty.db"]) == 2
    assert "no tables" in capsys.readouterr().err
    assert [each.name for each in tmp_path.iterdir()] == ["empty.db"]
