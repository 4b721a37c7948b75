"""Set-ups that are really broken, and the line that says what to do: those of docs/doctor.md."""

import json
import os
import re
import shutil
import socket
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import quote

import pytest

from taskshield.cli.doctor import sqlite_file
from taskshield.cli.main import main
from taskshield.judges.embedded.network.model_files import SHIPPED
from tests.cli.doctor.stage import DENIES, answering, hook_settings, made_store, program
from tests.docs.pages import text
from tests.stores.postgres_server import PostgresServer

_ROW = re.compile(r"^\| ([^|`]+) \| `(\w+)` \| `(.+)` \|$", re.MULTILINE)
ROWS = [
    (what, check, line.replace("\\|", "|"))
    for what, check, line in _ROW.findall(text("docs/doctor.md"))
]

Setup = Callable[[Path, pytest.MonkeyPatch], AbstractContextManager[list[str]]]
"""Breaks something, and gives the options of the command."""
SETUPS: dict[str, Setup] = {}


def broken(
    name: str,
) -> Callable[[Callable[[Path, pytest.MonkeyPatch], Iterator[list[str]]]], None]:
    """The name by which the page knows a set-up."""

    def add(make: Callable[[Path, pytest.MonkeyPatch], Iterator[list[str]]]) -> None:
        SETUPS[name] = contextmanager(make)

    return add


@pytest.mark.parametrize(("what", "check", "line"), ROWS)
def test_the_doctor_says_what_to_do(
    what: str,
    check: str,
    line: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.chdir(home)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "state"))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    with SETUPS[what](tmp_path, monkeypatch) as options:
        port = [] if "--port" in options else ["--port", "0"]
        status = main(["doctor", "--json", *port, *options])
    out, err = capsys.readouterr()
    told = json.loads(out)
    failures = {
        (each["check"], each["advice"]) for each in told["checks"] if each["state"] == "failed"
    }
    assert (status, told["passed"], err) == (1, False, "")
    assert len(failures) == 1, told
    ((failed, advice),) = failures
    assert failed == check
    assert re.fullmatch(".+".join(map(re.escape, line.split("..."))), advice), advice
    assert "canary" not in out


def test_every_set_up_is_on_the_page() -> None:
    assert sorted(SETUPS) == sorted(what for what, _, _ in ROWS) and len(ROWS) >= 10


@broken("a package is too old")
def _(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    noted = folder / "site" / "uvicorn-0.20.0.dist-info"
    noted.mkdir(parents=True)
    (noted / "METADATA").write_text("Metadata-Version: 2.1\nName: uvicorn\nVersion: 0.20.0\n")
    patch.syspath_prepend(str(noted.parent))
    yield []


@broken("a mistyped variable")
def _(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    patch.setenv("TASKSHIELD_SERVER_PORT", "9000")
    yield []


@broken("a settings file that is not YAML")
def _(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    file = folder / "taskshield.yaml"
    file.write_text("judge: [canary")
    yield ["--config", str(file)]


@broken("a damaged file of the model")
def _(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    copy = folder / "weights"
    shutil.copytree(SHIPPED, copy)
    model = bytearray((copy / "decision.json").read_bytes())
    model[100] ^= 1
    (copy / "decision.json").write_bytes(model)
    patch.setenv("TASKSHIELD_CACHE_ENTRIES", "0")
    yield ["--judge", f"embedded:{copy}"]


@broken("the folder of the store is not there")
def _(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    yield ["--store", f"sqlite:///{folder / 'none' / 'store.db'}"]


@broken("the store is another kind of file")
def _(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    file = folder / "store.db"
    file.write_text("This is a letter to canary, not a database. " * 100)
    yield ["--store", f"sqlite:///{file}"]


@broken("a damaged store")
def _(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    file = made_store(folder)
    content = bytearray(file.read_bytes())
    for page in range(8192, len(content), 4096):
        content[page : page + 64] = b"\xff" * 64
    file.write_bytes(content)
    yield ["--store", f"sqlite:///{file}"]


@broken("a read-only store")
def _(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    # For root no file is read-only, but SQLite takes a file of a later format for one.
    file = made_store(folder)
    content = bytearray(file.read_bytes())
    content[18] = 3
    file.write_bytes(content)
    yield ["--store", f"sqlite:///{file}"]


@broken("a locked store")
def _(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    file = made_store(folder)
    patch.setattr(sqlite_file, "_PATIENCE_S", 0.1)
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield ["--store", f"sqlite:///{file}"]


@broken("a store of a newer release")
def _(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    file = made_store(folder)
    with closing(sqlite3.connect(file)) as store, store:
        store.execute("UPDATE taskshield_version SET version_num = '9001'")
    yield ["--store", f"sqlite:///{file}"]


_STARTED: list[PostgresServer] = []


@pytest.fixture(scope="module", autouse=True)
def postgres_is_removed() -> Iterator[None]:
    yield
    while _STARTED:
        _STARTED.pop().remove()


def postgres() -> PostgresServer:
    """One server for all tests of this module, once one of them needs it."""
    if not _STARTED:
        _STARTED.append(PostgresServer())
    return _STARTED[0]


@broken("a wrong password for Postgres")
def _(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    patch.setenv("TASKSHIELD_SERVER__STORE", postgres().url(password="canary"))
    yield []


@broken("a database that does not exist")
def _(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    patch.setenv("TASKSHIELD_SERVER__STORE", postgres().url("canary"))
    yield []


@broken("a read-only Postgres")
def _(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    options = quote("-c default_transaction_read_only=on")
    patch.setenv("TASKSHIELD_SERVER__STORE", f"{postgres().url()}&options={options}")
    yield []


@broken("a Postgres that is not running")
def _(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    with no_listener() as url:
        address = url.replace("http://", "postgresql://user:canary@")
        patch.setenv("TASKSHIELD_SERVER__STORE", f"{address}/name")
        yield []


@broken("another program on the port")
def _(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    with answering() as provider:
        yield ["--port", provider.url.rpartition(":")[2]]


@broken("an address for other machines without a key")
def _(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    yield ["--host", "0.0.0.0", "--store", f"sqlite:///{made_store(folder)}"]


@broken("an address of another machine")
def _(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    # 192.0.2.0/24 is for documentation: no machine has such an address. A store with a key.
    yield ["--host", "192.0.2.1", "--store", f"sqlite:///{made_store(folder, key=True)}"]


@broken("a provider that is not running")
def _(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    with no_listener() as url:
        patch.setenv("TASKSHIELD_SERVER__UPSTREAM__OPENAI", f"{url}/v1")
        yield []


@broken("a provider without TLS")
def _(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    with answering() as provider:
        address = provider.url.replace("http://", "https://user:canary@")
        patch.setenv("TASKSHIELD_SERVER__UPSTREAM__ANTHROPIC", address)
        yield []


@broken("a provider that fails")
def _(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    with answering(503) as provider:
        patch.setenv("TASKSHIELD_SERVER__UPSTREAM__OPENAI", f"{provider.url}/v1")
        yield []


@broken("the server as its own provider")
def _(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    with no_listener() as url:
        patch.setenv("TASKSHIELD_SERVER__UPSTREAM__OPENAI", f"{url}/v1")
        port = url.rpartition(":")[2]
    yield ["--port", port]


@broken("a clock that is behind")
def _(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    file = made_store(folder, newest=datetime.now(UTC) + timedelta(days=2))
    yield ["--store", f"sqlite:///{file}"]


@broken("a hook whose command is not found")
def _(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    hook_settings(folder / "home", "/opt/none/taskshield hook claude-code || exit 2")
    yield []


@broken("a hook that fails open")
def _(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    hook_settings(folder / "home", "taskshield hook claude-code")
    patch.setenv("PATH", f"{program(folder, DENIES)}{os.pathsep}{os.environ['PATH']}")
    yield []


@broken("a hook whose server is not running")
def _(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    with no_listener() as url:
        hook_settings(folder / "home", f"taskshield hook claude-code --url {url} || exit 2")
        yield []


@broken("a judge that allows everything")
def _(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    yield ["--judge", "allow-all"]


@broken("a judge without its endpoint")
def _(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    patch.setenv("TASKSHIELD_RETRIES", "0")
    patch.setenv("TASKSHIELD_API_KEY", "sk-canary")
    with answering(401) as provider:
        yield ["--judge", "openai:gpt-4o-mini", "--base-url", f"{provider.url}/v1"]


@contextmanager
def no_listener() -> Iterator[str]:
    """An address that is taken, but where no program listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"
