"""`taskshield db upgrade`."""

import asyncio
from pathlib import Path

import pytest

from taskshield.cli.main import main
from taskshield.core.session_parts import document_version
from tests.stores.rows import SESSION, opened
from tests.stores.sql.test_migrate import apart
from tests.stores.sql.test_parts import of_0_1_0


def test_a_store_of_the_release_before_is_brought_up_to_date(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url = f"sqlite:///{tmp_path}/store.db"

    async def before() -> None:
        await apart(url, of_0_1_0)
        async with opened(url) as store:
            await store.commit(SESSION, [])

    async def after() -> None:
        async with opened(url) as store:
            assert document_version(store) == 2
            assert await store.session("acme", "s1") == SESSION

    asyncio.run(before())
    for _ in range(2):
        assert main(["db", "upgrade", "--store", url]) == 0
        assert "The store is up to date." in capsys.readouterr().err
        asyncio.run(after())


def test_a_store_in_memory_cannot_be_upgraded(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["db", "upgrade", "--store", "memory:"]) == 2
    assert "in memory" in capsys.readouterr().err
