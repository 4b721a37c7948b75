"""Starts the servers of the benchmark as users do, and always stops them."""

import os
import re
import secrets
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

import yaml
from scripted_provider import model

from taskshield.settings import PREFIX

HOST = "127.0.0.1"
KEY = f"sk-{secrets.token_hex(32)}"
"""The clients' key. Only litellm reads it, and it does not start without one."""

_HERE = Path(__file__).parent
_SCRIPT = Path(sys.executable).with_name("taskshield")
_PATIENCE_S = 90.0
_STOPPING_S = 20.0
_LISTENING = re.compile(r'"event": "listening".*"port": (\d+)|running on http://127\.0\.0\.1:(\d+)')
_PAUSE_S = 0.03
"""Pause between two readiness requests, which cost the server time as well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A running server."""

    pid: int
    port: int
    ready_s: float
    """From the start of its process until it was ready."""

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://{HOST}:{self.port}"

    def cpu_s(self) -> float:
        """Its processor time. 0 without /proc."""
        path = Path(f"/proc/{self.pid}/stat")
        if not path.exists():
            return 0.0
        fields = path.read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def taskshield(folder: Path, upstream: str, *, ahead: bool = False) -> Iterator[Running]:
    """Our server with a new SQLite file and otherwise default settings.

    Args:
        folder: For the file.
        upstream: Address of the provider.
        ahead: Whether requests are forwarded before their check ends.
    """
    store = folder / f"store-{time.monotonic_ns()}.db"
    words = [str(_SCRIPT), "serve", "--port", "0", "--store", f"sqlite:///{store}"]
    given = {
        f"{PREFIX}SERVER__UPSTREAM__OPENAI": f"{upstream}/v1",
        f"{PREFIX}SERVER__UPSTREAM__AHEAD": str(ahead).lower(),
    }
    with _started(words, folder, given, ready="/readyz") as running:
        yield running


@contextmanager
def scripted_upstream(folder: Path) -> Iterator[Running]:
    """The scripted provider."""
    options = ["--lifespan", "off", "--no-server-header", "--no-date-header"]
    with _started(_uvicorn("scripted_provider:app", *options), folder, {}) as running:
        yield running


@contextmanager
def bare(folder: Path, upstream: str) -> Iterator[Running]:
    """The bare pass-through."""
    with _started(_uvicorn("pass_through:app"), folder, {"UPSTREAM": upstream}) as running:
        yield running


@contextmanager
def litellm(command: str, folder: Path, upstream: str, delays: Sequence[int]) -> Iterator[Running]:
    """Litellm's proxy, one worker, with nothing but the provider configured.

    Args:
        command: How it is called.
        folder: For its settings.
        upstream: Address of the provider.
        delays: Milliseconds; one model for each.
    """
    config = folder / "litellm.yaml"
    models = [
        {
            "model_name": model(delay),
            "litellm_params": {
                "model": f"openai/{model(delay)}",
                "api_base": f"{upstream}/v1",
                "api_key": "none",
            },
        }
        for delay in delays
    ]
    config.write_text(yaml.safe_dump({"model_list": models}))
    port = _free_port()
    options = ["--config", str(config), "--host", HOST, "--port", str(port), "--num_workers", "1"]
    # Without the variable it requests the network for prices when it starts.
    given = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MASTER_KEY": KEY}
    words = [*shlex.split(command), *options]
    with _started(words, folder, given, ready="/health/liveliness", port=port) as running:
        yield running


def fetched(url: str) -> str | None:
    """The text at this address. None without an answer with status 200."""
    try:
        with urlopen(url, timeout=5) as answer:
            text: str = answer.read().decode()
            return text
    except HTTPError as error:
        error.close()
    except (URLError, OSError):
        pass
    return None


def _uvicorn(app: str, *options: str) -> list[str]:
    fast = ["--loop", "uvloop", "--http", "httptools", "--ws", "none", "--no-access-log"]
    given = ["--app-dir", str(_HERE), "--host", HOST, "--port", "0", *fast, *options]
    return [sys.executable, "-m", "uvicorn", app, *given]


@contextmanager
def _started(
    words: Sequence[str],
    folder: Path,
    variables: Mapping[str, str],
    *,
    ready: str = "/",
    port: int | None = None,
) -> Iterator[Running]:
    """Start a process and wait until it answers with 200. Its port, if not given, is in its log."""
    log = folder / f"log-{time.monotonic_ns()}.txt"
    kept = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    began = time.perf_counter()
    with log.open("wb") as written:
        process = subprocess.Popen(
            words, stdout=written, stderr=subprocess.STDOUT, env={**kept, **variables}
        )
    try:
        while port is None:
            _wait_or_fail(process, log, began)
            port = _port_in_log(log)
        while fetched(f"http://{HOST}:{port}{ready}") is None:
            _wait_or_fail(process, log, began)
        yield Running(pid=process.pid, port=port, ready_s=time.perf_counter() - began)
    finally:
        process.terminate()
        try:
            process.wait(_STOPPING_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _port_in_log(log: Path) -> int | None:
    found = _LISTENING.search(log.read_text())
    return None if found is None else int(found[1] or found[2])


def _wait_or_fail(process: "subprocess.Popen[bytes]", log: Path, began: float) -> None:
    """Pause before the next readiness request.

    Raises:
        RuntimeError: The process ended, or it takes too long.
    """
    if process.poll() is not None or time.perf_counter() - began > _PATIENCE_S:
        last = "\n".join(log.read_text().splitlines()[-20:])
        raise RuntimeError(f"A server did not start. The end of its output:\n{last}")
    time.sleep(_PAUSE_S)


def _free_port() -> int:
    with socket.socket() as found:
        found.bind((HOST, 0))
        port: int = found.getsockname()[1]
        return port
