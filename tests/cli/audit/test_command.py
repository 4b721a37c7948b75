"""`audit` as a command."""

import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from taskshield.audit import run as module
from taskshield.cli.main import main
from tests.audit.log_files import clean, hijacked, write
from tests.cli.hostile import PAYLOADS, hidden

Captured = pytest.CaptureFixture[str]
COMMAND = "import sys; from taskshield.cli.main import main; sys.exit(main(sys.argv[1:]))"


def audit(path: Path, out: Path, *more: object) -> int:
    words = ["audit", "--out", out, "--judge", "block-side-effects", path, *more]
    return main([str(word) for word in words])


def test_something_misaligned_exits_with_1(tmp_path: Path, capsys: Captured) -> None:
    path = write(tmp_path / "a.jsonl", clean(1), hijacked(2))
    assert audit(path, tmp_path / "out") == 1
    out, err = capsys.readouterr()
    assert out.startswith("MISALIGNED  1 of 2 conversations\n")
    words = " ".join(out.split())
    assert "calls that would have been blocked 1" in words
    assert "send_email 1" in words and "external 1" in words and "a.jsonl 1" in words
    assert not hidden(out) and err == ""
    assert not [line for line in out.splitlines() if line != line.rstrip()]


def test_nothing_misaligned_exits_with_0(tmp_path: Path, capsys: Captured) -> None:
    assert audit(write(tmp_path / "a.jsonl", clean(1)), tmp_path / "out") == 0
    assert capsys.readouterr().out.startswith("ALIGNED\n")


def test_something_unreadable_exits_with_3(tmp_path: Path, capsys: Captured) -> None:
    assert audit(write(tmp_path / "a.jsonl", clean(1), {"x": 1}), tmp_path / "out") == 3
    out = capsys.readouterr().out
    assert out.startswith("INCOMPLETE")
    assert "record: in no format that is known" in out


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--judge", "wizard"), "'wizard' is not a known judge"),
        (("nowhere",), "nowhere has no log that can be read"),
        (("--config", "nowhere.yaml"), "The settings file nowhere.yaml cannot be read"),
    ],
)
def test_a_wrong_command_line_exits_with_2(
    more: tuple[str, ...], message: str, tmp_path: Path, capsys: Captured
) -> None:
    assert audit(write(tmp_path / "a.jsonl", clean(1)), tmp_path / "out", *more) == 2
    err = capsys.readouterr().err
    assert message in err and "was interrupted" not in err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("number", ["0", "-1", "many"])
def test_numbers_are_at_least_1(number: str, tmp_path: Path, capsys: Captured) -> None:
    path = write(tmp_path / "a.jsonl", clean(1))
    for option in ("--workers", "--limit"):
        with pytest.raises(SystemExit):
            audit(path, tmp_path / "out", option, number)
        assert "must be a whole number of at least 1" in capsys.readouterr().err


def test_an_earlier_audit_is_continued_only_with_resume(tmp_path: Path, capsys: Captured) -> None:
    path = write(tmp_path / "a.jsonl", clean(1), hijacked(2))
    assert audit(path, tmp_path / "out", "--limit", 1) == 0
    assert audit(path, tmp_path / "out") == 2
    err = capsys.readouterr().err
    assert "Use --resume to continue it" in err and "was interrupted" not in err
    assert audit(path, tmp_path / "out", "--resume") == 1
    assert "conversations checked 2" in " ".join(capsys.readouterr().out.split())


def test_without_ray_the_error_says_what_to_install_and_nothing_is_written(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.delitem(sys.modules, "taskshield.audit.replay.ray_cluster", raising=False)
    monkeypatch.delattr("taskshield.audit.replay.ray_cluster", raising=False)
    path = write(tmp_path / "a.jsonl", clean(1))
    assert audit(path, tmp_path / "out", "--ray", "local") == 2
    assert "pip install 'taskshield[ray]'" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_text_is_written_only_with_its_option(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", hijacked(2))
    for name, more in (("hashed", ()), ("plain", ("--with-text",))):
        audit(path, tmp_path / name, *more)
        written = (tmp_path / name / "findings.jsonl").read_text()
        assert ("eve@evil.example" in written) == bool(more)


def test_names_from_a_log_cannot_take_over_the_terminal(tmp_path: Path, capsys: Captured) -> None:
    hostile = []
    for number, payload in enumerate(PAYLOADS.values()):
        conversation = hijacked(number)
        conversation["messages"][3]["tool_calls"][0]["function"]["name"] = f"send {payload}"
        hostile.append(conversation)
    audit(write(tmp_path / "a.jsonl", *hostile), tmp_path / "out")
    assert not hidden(capsys.readouterr().out)


def test_an_interrupted_audit_says_how_to_continue_it(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*given: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "_remaining_entries", interrupted)
    assert audit(write(tmp_path / "a.jsonl", clean(1)), tmp_path / "out") == 130
    out, err = capsys.readouterr()
    assert out == "" and "was interrupted. Continue it with --resume --out" in err


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_bar_shows_how_much_of_the_files_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = _Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("COLUMNS", "120")
    logs = tmp_path / "logs"
    for name in ("a.jsonl", "b.jsonl"):
        write(logs / name, clean(1), clean(2))
    audit(logs, tmp_path / "out")
    assert "4 checked" in screen.getvalue() and "100 %" in screen.getvalue()


def alive(group: int) -> list[str]:
    """The processes of a group, but for those that only wait to be buried."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, of, *_ = path.read_text().rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        if int(of) == group and state != "Z":
            found.append(path.parent.name)
    return found


@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_leaves_whole_lines_and_no_process(workers: int, tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", *(hijacked(number) for number in range(4_000)))
    words = ["audit", path, "--judge", "block-side-effects", "--workers", workers, "--out"]
    started = subprocess.Popen(
        [sys.executable, "-c", COMMAND, *map(str, words), tmp_path / "out"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    journal = tmp_path / "out" / "journal.jsonl"
    while started.poll() is None and (not journal.exists() or journal.stat().st_size < 5_000):
        time.sleep(0.01)
    os.killpg(started.pid, signal.SIGINT)  # as a terminal does: to all processes
    out, err = started.communicate(timeout=60)
    assert started.returncode == 130, err
    assert (
        out == ""
        and err.startswith("taskshield: The audit was interrupted.")
        and "Traceback" not in err
    )
    while alive(started.pid):  # what keeps count of shared memory ends a moment later
        time.sleep(0.01)
    lines = journal.read_text().splitlines(keepends=True)
    assert all(line.endswith("\n") and json.loads(line) for line in lines)
    assert 1 < len(lines) < 4_000


def test_other_commands_do_not_load_what_reads_logs() -> None:
    code = (
        "import sys, taskshield.cli.main;"
        " print([m for m in sys.modules if m.startswith('taskshield.audit')])"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert printed.stdout.strip() == "[]"
