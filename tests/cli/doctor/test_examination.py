"""The whole command: set-ups that work, texts of others, and checks that fail themselves."""

import json
import os
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from taskshield.cli.doctor import examination
from taskshield.cli.main import main
from taskshield.settings import load
from taskshield.stores.memory import MemoryStore
from taskshield.wiring import build_judge
from tests.cli.doctor.stage import made_store
from tests.server.listening import in_process, in_thread

Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def empty_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.chdir(home)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "state"))


def report(capsys: Captured, *options: str, status: int = 0) -> dict[str, tuple[str, str]]:
    assert main(["doctor", "--json", *options]) == status
    told = json.loads(capsys.readouterr().out)
    assert told["passed"] is (status == 0)
    return {each["check"]: (each["state"], each["what"]) for each in told["checks"]}


def test_a_set_up_that_works(capsys: Captured, tmp_path: Path) -> None:
    store = made_store(tmp_path, key=True)
    before = store.read_bytes()
    told = report(capsys, "--port", "0", "--store", f"sqlite:///{store}")
    assert list(told) == [
        *("install", "settings", "model", "store", "port", "upstream", "clock", "hooks", "attack")
    ]
    states = {check: state for check, (state, _) in told.items()}
    assert states.pop("upstream") == states.pop("hooks") == "skipped"
    assert set(states.values()) == {"ok"}
    assert store.read_bytes() == before


def test_nothing_is_made_where_there_is_no_store_yet(capsys: Captured, tmp_path: Path) -> None:
    state, what = report(capsys, "--port", "0")["store"]
    assert state == "ok" and "makes it" in what
    assert list((tmp_path / "home").iterdir()) == []


def test_the_server_that_runs_already(capsys: Captured, tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'store.db'}"
    with in_process("--store", store) as running, httpx.Client(base_url=running.url) as client:
        while client.get("/readyz").status_code != 200:
            pass
        port = running.url.rpartition(":")[2]
        state, what = report(capsys, "--port", port, "--store", store)["port"]
    assert state == "ok" and "runs there and is ready" in what


def test_a_running_server_that_is_not_ready(capsys: Captured) -> None:
    judge = build_judge(load({"judge": "allow-all"}, environment={}))
    with in_thread(judge, MemoryStore()) as running:
        port = running.url.rpartition(":")[2]
        with httpx.Client(base_url=running.url) as client:
            while "known attack" not in client.get("/readyz").text:
                pass
        state, what = report(capsys, "--port", port, "--store", "memory:", status=1)["port"]
    assert state == "failed" and "did not detect the known attack" in what


def test_variables_that_are_no_settings_are_listed(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TASKSHIELD_KEY_OF_MINE", "canary")
    main(["doctor", "--port", "0"])
    out = capsys.readouterr().out
    assert "TASKSHIELD_KEY_OF_MINE" in out and "canary" not in out


def test_texts_of_others_cannot_control_the_terminal(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TASKSHIELD_KEY_\x1b[2J\u202eX", "1")
    assert main(["doctor", "--port", "0", "--no-color"]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out and "\u202e" not in out and r"\x1b[2J<U+202E>X" in out


def test_a_check_that_fails_itself_is_a_finding(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("canary")

    monkeypatch.setattr(examination, "check_store", broken)
    state, what = report(capsys, "--port", "0", status=1)["store"]
    assert state == "failed" and "RuntimeError" in what and "canary" not in what


def test_without_the_packages_of_the_server(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules.update(dict.fromkeys(['sqlalchemy', 'starlette']));"
        "from taskshield.cli.main import main; sys.exit(main(['doctor', '--json']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=os.environ
    )
    told = json.loads(done.stdout)["checks"]
    failures = {each["check"]: each["advice"] for each in told if each["state"] == "failed"}
    install = "pip install 'taskshield[server]'"
    assert failures.items() <= {"store": install, "port": install}.items() and failures
    assert done.returncode == 1 and done.stderr == ""


def test_help_fits_a_terminal(capsys: Captured) -> None:
    with pytest.raises(SystemExit):
        main(["doctor", "--help"])
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


def test_other_commands_do_not_load_the_checks() -> None:
    code = "import sys, taskshield.cli.main; print('taskshield.cli.doctor.hooks' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout == b"False\n"


def test_a_user_without_a_home_folder(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setattr(Path, "home", no_home)
    assert main(["doctor", "--port", "0"]) == 1
    shown = capsys.readouterr().out
    assert "Set server.store, XDG_STATE_HOME or HOME." in shown and "Report this" not in shown
