import logging
import os
import socket
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest

from taskshield.cli import serve
from taskshield.cli.main import main

Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def logging_as_before() -> Iterator[None]:
    """A server configures the logs of its whole process."""
    loggers = [logging.getLogger(name) for name in ("", "taskshield", "uvicorn")]
    before = [(logger, logger.level, logger.handlers[:]) for logger in loggers]
    yield
    for logger, level, handlers in before:
        logger.setLevel(level)
        logger.handlers[:] = handlers


def complaint(capsys: Captured, *arguments: str) -> str:
    """What a server that cannot start writes, which must be one line."""
    assert main(["serve", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and err.startswith("taskshield: error: ")
    return err


def test_a_port_in_use_is_one_line(capsys: Captured) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        told = complaint(capsys, "--port", port, "--store", "memory:")
    assert f"server.port: 127.0.0.1:{port} cannot be used: Address already in use" in told


def test_an_address_that_others_can_reach_needs_a_key(capsys: Captured) -> None:
    told = complaint(capsys, "--host", "0.0.0.0", "--port", "0", "--store", "memory:")
    assert "there is no API key" in told and "taskshield keys create" in told


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--port", "http"], "server.port: "),
        (["--port", "70000"], "server.port: "),
        (["--host", "not a host", "--port", "0"], "server.host: not a host cannot be used"),
        (["--config", "none.yaml"], "none.yaml"),
        (["--judge", "oracle", "--port", "0", "--store", "memory:"], "not a known judge"),
        (["--store", "mysql://canary@host", "--port", "0"], "URL of the store"),
        (["--store", "sqlite:////proc/none/x.db", "--port", "0"], "store"),
    ],
)
def test_wrong_settings_are_one_line(arguments: list[str], words: str, capsys: Captured) -> None:
    told = complaint(capsys, *arguments)
    assert words in told and "canary" not in told


def test_windows_needs_no_uvloop() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    (needed,) = [
        each for each in project["optional-dependencies"]["server"] if each.startswith("uvloop")
    ]
    assert needed.endswith("; sys_platform != 'win32'")


@pytest.mark.parametrize("hidden", [(), ("uvloop",)])
def test_a_server_starts_with_and_without_uvloop(hidden: tuple[str, ...]) -> None:
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({hidden!r}));"
        "from taskshield.cli.main import main;"
        "main(['serve', '--port', '0', '--store', 'memory:', '--judge', 'allow-all'])"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        try:
            assert running.stdout is not None
            told = [running.stdout.readline() for _ in range(3)]
            root = told[0].removeprefix("taskshield: ").partition(" ")[0]
            assert told[1:] == [
                f"  export OPENAI_BASE_URL={root}v1\n",
                f"  export ANTHROPIC_BASE_URL={root.removesuffix('/')}\n",
            ]
            with urlopen(root) as page:
                assert page.status == 200 and b"<html" in page.read()
        finally:
            running.terminate()
            running.communicate()


@pytest.mark.parametrize(
    ("host", "root"),
    [
        ("127.0.0.1", "http://127.0.0.1:9000"),
        ("::1", "http://[::1]:9000"),
        ("10.1.2.3", "http://10.1.2.3:9000"),
        ("0.0.0.0", "http://127.0.0.1:9000"),
        ("::", "http://[::1]:9000"),
    ],
)
@pytest.mark.parametrize("needs_key", [False, True])
def test_the_directions_fit_the_address(host: str, root: str, needs_key: bool) -> None:
    told = serve.directions(host, 9000, needs_key).splitlines()
    assert f" {root}/ " in told[0]
    assert told[1].split() == ["export", f"OPENAI_BASE_URL={root}/v1"]
    assert told[2].split() == ["export", f"ANTHROPIC_BASE_URL={root}"]
    notes = " ".join(told[3:])
    assert ("On other machines" in notes) == (host in ("0.0.0.0", "::"))
    assert ("x-taskshield-key" in notes) == needs_key
    assert ("agents need keys, too" in notes) == (not needs_key)
    linked = serve.directions(host, 9000, needs_key, "#/login/abc")
    assert (f"  {root}/#/login/abc" in linked.splitlines()) == (not needs_key)


def test_a_closed_output_does_not_stop_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    with open(os.devnull, "w") as closed:
        pass
    for output in (None, closed):
        monkeypatch.setattr(sys, "stdout", output)
        told = serve.Terminal()
        told.listening("127.0.0.1", 9000, False, None)
        told.renewed("#/login/next")
        assert not told.shows_links


def test_help_fits_a_terminal(capsys: Captured) -> None:
    with pytest.raises(SystemExit):
        main(["serve", "--help"])
    text = capsys.readouterr().out
    assert "/readyz" in text and max(map(len, text.splitlines())) <= 80


def test_the_command_line_does_not_load_the_server() -> None:
    code = "import sys, taskshield.cli.main; print('fastapi' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout == b"False\n"
