"""The processes of the server's benchmark: started as people start them, and stopped for sure."""

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
from server_upstream import model

from taskshield.settings import PREFIX

HOST = "127.0.0.1"
KEY = f"sk-{secrets.token_hex(32)}"
"""What clients give as their key. Only litellm looks at it; it does not start without one."""

_HERE = Path(__file__).parent
_SCRIPT = Path(sys.executable).with_name("taskshield")
_PATIENCE_S = 90.0
_STOPPING_S = 20.0
_TOLD = re.compile(r'"event": "listening".*"port": (\d+)|running on http://127\.0\.0\.1:(\d+)')
_PAUSE_S = 0.03
"""Between two looks at whether a server is ready; asking is work for it, too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A server that answers."""

    pid: int
    port: int
    ready_s: float
    """From the start of its process until it was ready."""

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://{HOST}:{self.port}"

    def cpu_s(self) -> float:
        """Processor time that it has spent; 0 where the system does not tell."""
        path = Path(f"/proc/{self.pid}/stat")
        if not path.exists():
            return 0.0
        fields = path.read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def taskshield(folder: Path, upstream: str, *, ahead: bool = False) -> Iterator[Running]:
    """Our server with a fresh SQLite file, otherwise as it is by default.

    Args:
        folder: For the file.
        upstream: Address of the provider.
        ahead: Whether requests go to the provider while they are judged.
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
    with _started(_uvicorn("server_upstream:app", *options), folder, {}) as running:
        yield running


@contextmanager
def bare(folder: Path, upstream: str) -> Iterator[Running]:
    """The bare pass-through."""
    with _started(_uvicorn("server_bare:app"), folder, {"UPSTREAM": upstream}) as running:
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
    # Without the variable it asks the network for prices when it starts.
    given = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MASTER_KEY": KEY}
    words = [*shlex.split(command), *options]
    with _started(words, folder, given, ready="/health/liveliness", port=port) as running:
        yield running


def fetched(url: str) -> str | None:
    """What is there; None where nobody answers, or not with 200."""
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
    """A process, once a path of it is answered with 200; its port, if not given, from its log."""
    log = folder / f"log-{time.monotonic_ns()}.txt"
    kept = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    began = time.perf_counter()
    with log.open("wb") as written:
        process = subprocess.Popen(
            words, stdout=written, stderr=subprocess.STDOUT, env={**kept, **variables}
        )
    try:
        while port is None:
            _still_running(process, log, began)
            port = _port_told(log)
        while fetched(f"http://{HOST}:{port}{ready}") is None:
            _still_running(process, log, began)
        yield Running(pid=process.pid, port=port, ready_s=time.perf_counter() - began)
    finally:
        process.terminate()
        try:
            process.wait(_STOPPING_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _port_told(log: Path) -> int | None:
    found = _TOLD.search(log.read_text())
    return None if found is None else int(found[1] or found[2])


def _still_running(process: "subprocess.Popen[bytes]", log: Path, began: float) -> None:
    """Pause, if there is anything to wait for.

    Raises:
        RuntimeError: The process has ended, or takes too long.
    """
    if process.poll() is not None or time.perf_counter() - began > _PATIENCE_S:
        last = "\n".join(log.read_text().splitlines()[-20:])
        raise RuntimeError(f"a server did not start; the end of what it wrote:\n{last}")
    time.sleep(_PAUSE_S)


def _free_port() -> int:
    with socket.socket() as found:
        found.bind((HOST, 0))
        port: int = found.getsockname()[1]
        return port
