"""The installed command in a process of its own, with real pipes, terminals and signals."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.cli.stage import CLEAN, HIJACKED, command, endpoint
from tests.clients.upstream import Upstream, hang

SCRIPT = Path(sys.executable).with_name("taskshield")


def run(arguments: list[str], **more: object) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(  # type: ignore[call-overload, no-any-return]
        [SCRIPT, *arguments],
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "timeout": 60, **more},
    )


def on_terminal(
    arguments: list[str], *, environment: dict[str, str] | None = None, same: bool = False
) -> tuple[str, str]:
    """What the command writes to the two outputs when standard error, or both, is a terminal."""
    leader, follower = os.openpty()
    seen: list[bytes] = []

    def read() -> None:
        try:
            while chunk := os.read(leader, 65_536):
                seen.append(chunk)
        except OSError:  # how Linux says that the other end is closed
            pass

    reader = threading.Thread(target=read)
    reader.start()
    stdout = follower if same else subprocess.PIPE
    extra = {} if environment is None else environment
    done = run(arguments, stdout=stdout, stderr=follower, env={**os.environ, **extra})
    os.close(follower)
    reader.join()
    os.close(leader)
    return (done.stdout or b"").decode(), b"".join(seen).decode()


def test_a_pipe_gets_plain_text_and_the_exit_status_tells_the_verdict() -> None:
    with endpoint() as upstream:
        done = run(command(upstream, "-"), input=HIJACKED.read_bytes())
    assert done.returncode == 1
    assert b"MISALIGNED  3 of 9 messages" in done.stdout
    assert b"\x1b" not in done.stdout
    assert done.stderr == b""


def test_json_on_the_standard_output_is_one_document() -> None:
    with endpoint() as upstream:
        done = run(command(upstream, CLEAN, "--json"))
    assert done.returncode == 0
    assert json.loads(done.stdout)["verdict"] == "aligned"


def test_a_terminal_gets_colours_unless_turned_off() -> None:
    with endpoint() as upstream:
        _, coloured = on_terminal(command(upstream, HIJACKED), same=True)
        _, plain = on_terminal(command(upstream, HIJACKED, "--no-color"), same=True)
        _, asked = on_terminal(
            command(upstream, HIJACKED), same=True, environment={"NO_COLOR": "1"}
        )
    assert "\x1b[1;31mMISALIGNED" in coloured
    for text in (plain, asked):
        report = text[text.rindex("hijacked.json") :]
        assert "\x1b" not in report


def test_progress_goes_to_the_terminal_and_is_removed() -> None:
    with endpoint() as upstream:
        out, err = on_terminal(command(upstream, HIJACKED, "--json"))
    assert json.loads(out)["verdict"] == "misaligned"
    assert re.search(r"judging .*\d/9", err)
    assert err.rstrip("\r\n").endswith("\x1b[2K"), "the line of the bar is erased"


def test_progress_is_not_forced_into_logs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    with endpoint() as upstream:
        assert run(command(upstream, HIJACKED)).stderr == b""


def test_letters_that_the_output_cannot_write_are_spelled_out(tmp_path: Path) -> None:
    chat = tmp_path / "chat.json"
    chat.write_text(json.dumps([{"role": "user", "content": "Grüße \ud83d"}]))
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    with endpoint() as upstream:
        done = run(command(upstream, chat), env=environment)
    assert done.returncode == 0
    assert rb"Gr\xfc\xdfe <U+D83D>" in done.stdout


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_a_reader_that_leaves_is_no_verdict(options: tuple[str, ...]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with endpoint() as upstream:
        done = run(command(upstream, HIJACKED, *options), stdout=writer)
    os.close(writer)
    assert done.returncode == 141
    assert done.stderr == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a disk that is full")
def test_a_full_disk_is_one_line() -> None:
    with endpoint() as upstream, open("/dev/full", "wb") as full:
        done = run(command(upstream, HIJACKED), stdout=full)
    assert done.returncode == 2
    assert done.stderr == b"taskshield: error: Input or output failed: No space left on device.\n"


def test_an_interrupt_exits_with_130_and_no_traceback() -> None:
    with Upstream(hang) as upstream:
        running = subprocess.Popen(
            [SCRIPT, *command(upstream, HIJACKED)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            # A shell has its background jobs ignore interrupts, and theirs inherit that.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        while not upstream.seen and running.poll() is None:
            time.sleep(0.02)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=30)
    assert running.returncode == 130
    assert (out, err) == (b"", b"")
