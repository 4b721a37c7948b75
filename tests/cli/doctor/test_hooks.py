"""Hooks in Claude Code's settings. What a project's settings say is not trusted."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from taskshield.cli.doctor.findings import Finding
from taskshield.cli.doctor.hooks import check_hooks
from taskshield.stores.memory import MemoryStore
from tests.cli.doctor.stage import DENIES, EVENTS, hook_settings, program, write_settings
from tests.judging import TableJudge
from tests.server.listening import Listening, in_thread

COMMAND = "taskshield hook claude-code"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    return home


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    project.mkdir()
    return project


def checked(project: Path, **variables: str) -> list[Finding]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return list(check_hooks(project, {**os.environ, "PATH": path, **variables}))


def states(findings: list[Finding]) -> list[str]:
    return [each.state for each in findings]


def test_hooks_that_work(home: Path, project: Path) -> None:
    file = hook_settings(home, f"{COMMAND} || exit 2")
    (good,) = checked(project)
    assert good.state == "ok" and str(file) in good.what
    assert not (home / ".local").exists()  # it had a store of its own


def test_no_hooks_at_all(home: Path, project: Path) -> None:
    assert states(checked(project)) == ["skipped"]
    write_settings(home, {"PreToolUse": [{"hooks": [{"type": "command", "command": "date"}]}]})
    assert states(checked(project)) == ["skipped"]


@pytest.mark.parametrize(
    "hooks", [None, 1, [1], {"PreToolUse": 1}, {"PreToolUse": [1, {"hooks": [1, {}]}]}]
)
def test_settings_of_any_shape_are_read(home: Path, project: Path, hooks: object) -> None:
    write_settings(home, hooks)
    assert states(checked(project)) == ["skipped"]


def test_settings_that_are_not_json(home: Path, project: Path) -> None:
    write_settings(home, {}).write_text("{")
    (bad,) = checked(project)
    assert bad.state == "failed" and "not valid JSON" in bad.what


def test_events_without_a_hook(home: Path, project: Path) -> None:
    hook_settings(home, f"{COMMAND} || exit 2", events=EVENTS[:1])
    path = f"{program(home, DENIES)}{os.pathsep}{os.environ['PATH']}"
    (bad,) = [each for each in checked(project, PATH=path) if each.state == "failed"]
    assert ", ".join(EVENTS[1:]) in bad.what


def test_a_matcher_leaves_tools_unguarded(home: Path, project: Path) -> None:
    hook = {"matcher": "Bash", "hooks": [{"command": f"{COMMAND} --url http://[ || exit 2"}]}
    write_settings(home, {event: [hook] for event in EVENTS})
    assert any('"matcher" to "*"' in each.advice for each in checked(project))


@pytest.mark.parametrize(
    "command",
    [
        f"touch ran; {COMMAND} || exit 2",
        f"{COMMAND} $(touch ran) || exit 2",
        f"{COMMAND} `touch ran` || exit 2",
        f"{COMMAND} | touch ran || exit 2",
        f"{COMMAND} > ran || exit 2",
        f"{COMMAND} --out ran || exit 2",
        f"{COMMAND} 'unclosed || exit 2",
        f"touch ran {COMMAND} || exit 2",
        "./taskshield hook claude-code || exit 2",
        f"{COMMAND} --config evil.yaml || exit 2",
    ],
)
def test_a_project_cannot_make_the_doctor_run_anything(
    home: Path, project: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    program(project, "touch ran")
    hook_settings(project, command)
    assert all(each.state != "failed" for each in checked(project))
    assert not (project / "ran").exists()


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("echo '{}'", "did not deny a call"),
        ("echo 'taskshield: The hook failed: no store' >&2; echo '\"deny\"'", "no store"),
        (
            "echo \"taskshield: error: The package 'x' is not installed. Run: pip install x\" >&2;"
            " exit 2",
            "is not installed",
        ),
        ("exit 3", "exit status 3"),
    ],
)
def test_a_hook_that_does_not_guard(home: Path, project: Path, script: str, words: str) -> None:
    bin = home / "bin"
    bin.mkdir()
    hook_settings(home, f"{COMMAND} || exit 2")
    (bad,) = checked(project, PATH=f"{program(bin, script)}{os.pathsep}{os.environ['PATH']}")
    assert bad.state == "failed" and words in bad.what and bad.advice
    if "pip" in script:
        assert bad.advice == "pip install x"


@pytest.fixture(scope="module")
def server() -> Iterator[Listening]:
    with in_thread(TableJudge(), MemoryStore()) as running:
        yield running


def test_a_key_that_is_not_set(home: Path, project: Path, server: Listening) -> None:
    hook_settings(home, f"{COMMAND} --url {server.url} --key-env=KEY_OF_MINE || exit 2")
    bad = [each for each in checked(project) if "KEY_OF_MINE" in each.what]
    assert [each.state for each in bad] == ["failed"]
    assert "canary" not in str(checked(project, KEY_OF_MINE="canary"))
    assert not [each for each in checked(project, KEY_OF_MINE="x") if "KEY_OF_MINE" in each.what]


def test_http_hooks(home: Path, project: Path, server: Listening) -> None:
    hook = {
        "type": "http",
        "url": f"{server.url}/hooks/claude-code",
        "headers": {"Authorization": "Bearer $SHIELD_KEY"},
        "allowedEnvVars": [],
    }
    write_settings(home, {event: [{"hooks": [hook]}] for event in EVENTS})
    told = " ".join(each.advice for each in checked(project))
    assert "export SHIELD_KEY=KEY" in told and '"allowedEnvVars"' in told
    hook["allowedEnvVars"] = ["SHIELD_KEY"]
    write_settings(home, {event: [{"hooks": [hook]}] for event in EVENTS})
    left = [each for each in checked(project, SHIELD_KEY="x") if "ready" not in each.what]
    assert all(each.state == "ok" for each in left)
