"""The Containerfile and what builds it. `lab/benchmarks/server/container.py` builds and runs it."""

import json
import re
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from tests.deploy.programs import program
from tools import image

ROOT = Path(__file__).parents[2]
FILE = ROOT / "deploy" / "Containerfile"
WHEEL = Path("taskshield-1.2.3-py3-none-any.whl")


def instructions() -> list[tuple[str, str]]:
    """The instructions of the file: the word and the rest."""
    lines = [line for line in FILE.read_text().splitlines() if not line.startswith("#")]
    joined = "\n".join(lines).replace("\\\n", "")
    found = [line.partition(" ") for line in joined.splitlines() if line]
    return [(word, re.sub(r"\s+", " ", rest)) for word, _, rest in found]


def last_stage() -> list[tuple[str, str]]:
    found = instructions()
    start = max(number for number, (word, _) in enumerate(found) if word == "FROM")
    return found[start:]


def only(word: str) -> str:
    (rest,) = (rest for each, rest in last_stage() if each == word)
    return rest


def test_hadolint_finds_nothing() -> None:
    done = subprocess.run([program("hadolint"), "--no-color", FILE], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")


def test_the_user_is_a_number_and_not_root() -> None:
    user, group = only("USER").split(":")
    assert int(user) >= 1000 and int(group) >= 1000
    words = [word for word, _ in last_stage()]
    assert "RUN" not in words, "what the last stage runs would be a layer more"


def test_what_is_installed_is_pinned_and_has_extras_that_exist() -> None:
    (run,) = (rest for word, rest in instructions() if word == "RUN")
    assert "--constraint /build/constraints.txt" in run and "--no-cache-dir" in run
    (extras,) = re.findall(r"\$\{wheel\}\[([\w,-]+)\]", run)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert {"server", "postgres"} <= set(extras.split(","))
    assert set(extras.split(",")) <= project["optional-dependencies"].keys()


def test_no_secret_is_in_a_layer() -> None:
    named = [rest for word, rest in instructions() if word in ("ARG", "ENV", "COPY", "ADD")]
    assert not re.search(r"(?i)key|token|password|secret|pip\.conf|_url", " ".join(named))
    (run,) = (rest for word, rest in instructions() if word == "RUN")
    assert run.startswith("--mount=type=secret,id=pip,target=/etc/pip.conf ")


def test_signals_reach_the_server_and_its_store_is_a_volume() -> None:
    assert json.loads(only("ENTRYPOINT")) == ["taskshield"], "a shell would not pass signals on"
    assert json.loads(only("CMD")) == ["serve"]
    assert only("STOPSIGNAL") == "SIGTERM"
    assert only("VOLUME") == "/var/lib/taskshield"
    assert "XDG_STATE_HOME=/var/lib " in only("ENV")


def test_labels_say_what_it_is() -> None:
    labels = only("LABEL")
    for name in ("title", "description", "licenses", "version", "revision", "created"):
        assert f"org.opencontainers.image.{name}=" in labels


@pytest.fixture
def answering() -> Iterator[tuple[HTTPServer, list[int]]]:
    """A server that answers every request with the status that the list holds."""
    answer = [200]

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(answer[0] if self.path == "/readyz" else 404)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server, answer
        server.shutdown()
        thread.join()


def test_the_health_check_is_that_of_readyz(answering: tuple[HTTPServer, list[int]]) -> None:
    server, answer = answering
    check = json.loads(only("HEALTHCHECK").partition("CMD ")[2])
    assert check[0] == "python"
    # An address that a proxy would be asked for, if the check asked one.
    environment = {"http_proxy": "http://127.0.0.1:9"}

    def status(port: int) -> int:
        port_variable = {"TASKSHIELD_SERVER__PORT": str(port)}
        return subprocess.run(
            [sys.executable, *check[1:]], env={**environment, **port_variable}, capture_output=True
        ).returncode

    assert status(server.server_port) == 0
    answer[0] = 503
    assert status(server.server_port) == 1
    assert status(9) == 1


def test_the_builder_gets_the_version_of_the_wheel() -> None:
    command = image.build_command(
        "podman", Path("folder"), wheel=WHEEL, tag=None, base="mine:1", more=["--pull-never"]
    )
    assert command[:4] == ["podman", "build", "--format", "docker"]
    assert command[command.index("--tag") + 1] == "taskshield:1.2.3"
    assert {"VERSION=1.2.3", "BASE=mine:1"} <= set(command)
    assert command[-2:] == ["--pull-never", "folder"]


def test_docker_needs_no_format_and_takes_a_name() -> None:
    command = image.build_command(
        "docker", Path("folder"), wheel=WHEEL, tag="registry/guard:7", base=None
    )
    assert "--format" not in command
    assert command[command.index("--tag") + 1] == "registry/guard:7"
    assert not any(word.startswith("BASE=") for word in command)


def test_the_context_holds_three_files(tmp_path: Path) -> None:
    wheel, context = tmp_path / WHEEL, tmp_path / "context"
    wheel.write_bytes(b"")
    context.mkdir()
    image.fill(context, wheel)
    names = {path.name for path in context.iterdir()}
    assert names == {"Containerfile", "constraints.txt", WHEEL.name}


def test_a_builder_runs_as_a_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wheel = tmp_path / WHEEL
    wheel.write_bytes(b"")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert image.main(["--wheel", str(wheel)]) == 2
    assert "Install one of: docker, podman, buildah." in capsys.readouterr().err
    builder = tmp_path / "buildah"
    builder.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/said\nexit 3\n')
    builder.chmod(0o755)
    assert image.main(["--wheel", str(wheel), "--isolation", "chroot"]) == 3
    assert "--isolation chroot /" in (tmp_path / "said").read_text()
