"""From URLs to stores."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from taskshield.core.errors import ConfigError, MissingExtraError
from taskshield.stores.memory import MemoryStore
from taskshield.stores.open_store import open_store
from tests.stores.rows import SESSION, opened


def test_a_store_in_memory() -> None:
    assert isinstance(asyncio.run(open_store("memory:")), MemoryStore)


def test_a_relative_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    async def body() -> None:
        async with opened("sqlite:///own store%20.db") as store:
            await store.commit(SESSION, [])

    asyncio.run(body())
    assert (tmp_path / "own store%20.db").exists()


@pytest.mark.parametrize(
    "url",
    [
        "",
        "memory",
        "memory:hunter2",
        "store.db",
        "/var/hunter2/store.db",
        "sqlite:store.db",
        "sqlite://hunter2",
        "sqlite:///",
        "sqlite:///:memory:",
        "sqlite:///store.db?mode=ro&hunter2",
        "sqlite:///nul\0",
        "mysql://user:hunter2@host/name",
        "postgresql:name",
        "postgres+psycopg://user:hunter2@host/name",
    ],
)
def test_other_urls_are_refused_without_being_shown(url: str) -> None:
    with pytest.raises(ConfigError, match="The URL of the store") as caught:
        asyncio.run(open_store(url))
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "package", "extra"),
    [
        ("sqlite:///store.db", "sqlalchemy", "server"),
        ("postgresql://host/name", "sqlalchemy", "server"),
        ("postgresql://host/name", "asyncpg", "postgres"),
    ],
)
def test_a_missing_package_names_the_extra_to_install(
    url: str, package: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in list(sys.modules):
        if name.startswith("taskshield.stores.") and not name.endswith((".open_store", ".memory")):
            package_name, _, module = name.rpartition(".")
            if package_name == "taskshield.stores":
                monkeypatch.delattr(sys.modules[package_name], module)  # an import sets it again
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=rf"'{package}'.*taskshield\[{extra}\]"):
        asyncio.run(open_store(url))


def test_a_store_in_memory_loads_no_database_library() -> None:
    program = (
        "import asyncio, sys; from taskshield.stores.open_store import open_store;"
        "asyncio.run(open_store('memory:'));"
        "print({'sqlalchemy', 'alembic', 'asyncpg'} & set(sys.modules))"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "set()"
