"""A release in a small repository with a real git: what is refused, what changes, what is left."""

import re
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml
from tools.release.__main__ import main, release
from tools.release.refusal import Refusal

from tests.tools.release.small_repository import git, make, quick_build, state
from tools.release import file_edits

ROOT = Path(__file__).parents[3]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return make(tmp_path / "repository")


def run(root: Path, version: str, checks: str = "true", *, dry_run: bool = False) -> None:
    release(root, version, checks=checks, dry_run=dry_run, build=quick_build)


def test_a_release_is_one_commit_with_an_annotated_tag_and_files(repository: Path) -> None:
    before = git(repository, "rev-parse", "HEAD")
    run(repository, "0.2.0")
    assert git(repository, "rev-parse", "HEAD~1") == before
    assert git(repository, "symbolic-ref", "HEAD") == "refs/heads/main"
    assert git(repository, "log", "-1", "--format=%s %an") == "Release 0.2.0 Tester"
    assert git(repository, "cat-file", "-t", "v0.2.0") == "tag"
    assert git(repository, "rev-parse", "v0.2.0^{commit}") == git(repository, "rev-parse", "HEAD")
    message = git(repository, "tag", "--list", "--format", "%(contents)", "v0.2.0")
    assert message == "taskshield 0.2.0\n\n### Added\n\n- A thing."
    assert git(repository, "status", "--porcelain") == ""
    folder = repository / "dist" / "0.2.0"
    assert (folder / "taskshield-0.2.0.whl").read_text() == "0.2.0"
    assert [path.name for path in folder.parent.iterdir()] == ["0.2.0"]


def test_the_files_name_the_new_version(repository: Path) -> None:
    run(repository, "0.2.0")
    assert file_edits.read_version(repository) == "0.2.0"
    chart = yaml.safe_load((repository / file_edits.CHART).read_text())
    assert chart["version"] == chart["appVersion"] == "0.2.0"
    assert ":-taskshield:0.2.0}" in (repository / file_edits.COMPOSE).read_text()
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    changelog = (repository / file_edits.CHANGELOG).read_text()
    assert f"## Unreleased\n\n## 0.2.0 - {today}\n\n### Added\n" in changelog
    headings = re.findall(r"^## (.*)$", changelog, re.MULTILINE)
    assert headings == ["Unreleased", f"0.2.0 - {today}", "0.1.0 - 2026-01-02"]


def test_this_repository_names_its_version_where_a_release_writes_it(tmp_path: Path) -> None:
    for name in (file_edits.VERSION_FILE, file_edits.CHART, file_edits.COMPOSE):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    file_edits.set_version(tmp_path, "9.8.7")
    assert file_edits.read_version(tmp_path) == "9.8.7"
    assert "0.1.0" not in (tmp_path / file_edits.CHART).read_text()


def test_a_dry_run_changes_nothing(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = state(repository)
    run(repository, "0.2.0", dry_run=True)
    assert state(repository) == before
    said = capsys.readouterr().out
    assert "Release 0.2.0" in said and "taskshield-0.2.0.whl" in said
    assert said.endswith("A dry run: nothing was released.\n")


@pytest.mark.parametrize(
    ("version", "why"),
    [
        ("0.2", "'0.2' is no version"),
        ("v0.2.0", "is no version"),
        ("0.2.0rc1", "is no version"),
        ("00.2.0", "is no version"),
        ("", "is no version"),
        ("0.1.0", "The tag v0.1.0 exists"),
        ("0.0.9", "0.0.9 is not newer than 0.1.0"),
    ],
)
def test_a_wrong_version_is_refused(repository: Path, version: str, why: str) -> None:
    before = state(repository)
    with pytest.raises(Refusal, match=re.escape(why)):
        run(repository, version)
    assert state(repository) == before


def test_a_version_without_tag_may_be_that_of_the_package_but_not_older(repository: Path) -> None:
    git(repository, "tag", "--delete", "v0.1.0")
    with pytest.raises(Refusal, match=r"0\.0\.9 is older than 0\.1\.0"):
        run(repository, "0.0.9")
    run(repository, "0.1.0")
    assert git(repository, "tag", "--list") == "v0.1.0"


@pytest.mark.parametrize("name", ["new.py", file_edits.CHANGELOG])
def test_a_checkout_with_changes_is_refused(repository: Path, name: str) -> None:
    (repository / name).write_text("changed")
    with pytest.raises(Refusal, match=f"not committed:\n.*{name}"):
        run(repository, "0.2.0")
    assert git(repository, "tag", "--list") == "v0.1.0"


def test_a_commit_without_branch_is_refused(repository: Path) -> None:
    git(repository, "checkout", "--quiet", "--detach")
    with pytest.raises(Refusal, match="No branch is checked out"):
        run(repository, "0.2.0")


def test_an_empty_changelog_is_refused(repository: Path) -> None:
    run(repository, "0.2.0")
    before = state(repository)
    with pytest.raises(Refusal, match='nothing under "Unreleased"'):
        run(repository, "0.3.0")
    assert state(repository) == before


def test_files_of_that_version_are_not_overwritten(repository: Path) -> None:
    (repository / "dist" / "0.2.0").mkdir(parents=True)
    with pytest.raises(Refusal, match=r"dist/0\.2\.0 exists"):
        run(repository, "0.2.0")


def test_failing_checks_are_refused_and_run_on_the_commit_of_the_release(repository: Path) -> None:
    before = state(repository)
    with pytest.raises(Refusal, match="the checks fail"):
        run(repository, "0.2.0", "false")
    run(repository, "0.2.0", f"grep 0.2.0 {file_edits.VERSION_FILE}", dry_run=True)
    with pytest.raises(Refusal, match="the checks have changed files"):
        run(repository, "0.2.0", f"echo >> {file_edits.CHANGELOG}")
    assert state(repository) == before


def test_a_build_that_fails_leaves_nothing(repository: Path) -> None:
    def broken(root: Path, folder: Path, version: str) -> list[Path]:
        folder.mkdir()
        (folder / "half").touch()
        raise Refusal("twine check: no")

    before = state(repository)
    with pytest.raises(Refusal, match="twine check"):
        release(repository, "0.2.0", checks="true", build=broken)
    assert state(repository) == before


def test_a_checkout_that_changes_meanwhile_is_refused(repository: Path) -> None:
    head = git(repository, "rev-parse", "HEAD")
    with pytest.raises(Refusal, match="has changed meanwhile"):
        run(repository, "0.2.0", f"touch {repository}/new.py")
    assert git(repository, "tag", "--list") == "v0.1.0"
    (repository / "new.py").unlink()
    with pytest.raises(Refusal, match="has changed meanwhile"):
        run(repository, "0.2.0", f"git -C {repository} commit --quiet --allow-empty -m other")
    assert git(repository, "rev-parse", "HEAD~1") == head
    assert git(repository, "status", "--porcelain") == ""
    assert not list((repository / "dist").glob(".*"))


def test_a_tag_that_appears_meanwhile_takes_the_commit_back(repository: Path) -> None:
    head = git(repository, "rev-parse", "HEAD")
    with pytest.raises(Refusal, match="git update-ref"):
        run(repository, "0.2.0", f"git -C {repository} tag v0.2.0")
    assert git(repository, "rev-parse", "HEAD") == head
    assert git(repository, "status", "--porcelain") == ""
    assert file_edits.read_version(repository) == "0.1.0"


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_release_leaves_nothing_and_can_be_repeated(
    repository: Path, tmp_path: Path, sent: signal.Signals
) -> None:
    before = state(repository)
    command = [sys.executable, "-m", "tools.release", "0.2.0"]
    started = tmp_path / "started"
    releasing = subprocess.Popen(
        [*command, "--checks", f"touch {started}; exec sleep 600"],
        cwd=repository,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    while not started.exists() and releasing.poll() is None:
        time.sleep(0.02)
    # As a terminal does: to the command and to what it runs.
    subprocess.run(["kill", f"-{sent.value}", "--", f"-{releasing.pid}"], check=True)
    said = releasing.communicate(timeout=60)[1]
    if sent is not signal.SIGKILL:
        assert releasing.returncode == 130
        assert said == "Interrupted. Nothing was released.\n"
        assert not list(tmp_path.glob("release*")), "the clone is removed"
    assert state(repository) == before
    run(repository, "0.2.0")


def test_make_passes_version_and_dry_run_on_and_only_prints_with_n(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_bytes((ROOT / "Makefile").read_bytes())

    def printed(*words: str) -> str:
        command = ["make", "--just-print", "--old-file", ".venv/.dev", "release", *words]
        done = subprocess.run(
            command,
            cwd=tmp_path,
            env={"PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.splitlines()[-1].rstrip()

    assert printed("VERSION=1.2.3") == ".venv/bin/python -m tools.release 1.2.3"
    said = printed("VERSION=1.2.3", "DRY_RUN=1")
    assert said == ".venv/bin/python -m tools.release 1.2.3 --dry-run"


def test_the_command_says_why_and_exits_with_1(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(repository)
    handler = signal.getsignal(signal.SIGTERM)
    try:
        assert main(["0.1.0"]) == 1
    finally:
        signal.signal(signal.SIGTERM, handler)
    said = capsys.readouterr().err
    assert said == "No release: The tag v0.1.0 exists: this version is released.\n"
