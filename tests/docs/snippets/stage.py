"""Where the snippets of a page run: an environment with the wheel, a folder, a server's port.

Each page has a folder of its own, outside of the repository, which is also the home of its
commands. What one snippet sets or writes, the next one finds. A server that a snippet starts runs
in the background until the page ends.
"""

import os
import re
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from types import MappingProxyType

from tests.packaging.environments import Environment
from tests.packaging.wheels import ROOT, UV

PORT = "8787"
"""The port in all pages; each page gets a free one instead."""

_PRELUDE = Path(__file__).with_name("prelude.sh")
_PATIENCE_S = 120.0


class SnippetFailed(AssertionError):
    """A snippet does not do what its page says."""


class Stage:
    """The place where the snippets of one page run, one after the other."""

    def __init__(self, folder: Path, environment: Environment) -> None:
        self.folder = folder
        self.environment = environment
        self.port = free_port()
        self.printed = ""
        """What the last snippet printed."""
        self.variables: dict[str, str] = {}
        """Variables of all commands of the page."""
        self.replaced: dict[str, str] = {PORT: str(self.port)}
        """Words of the page that stand for something else here: ports, addresses, paths."""
        self.ends = ExitStack()
        """What to close when the page ends."""
        self.bin = folder / ".bin"
        self.bin.mkdir(parents=True)
        self.ends.callback(self._stop)

    @property
    def url(self) -> str:
        """The address of the page's server."""
        return f"http://127.0.0.1:{self.port}"

    def here(self, code: str) -> str:
        """The code, with this page's port and addresses."""
        for word, other in self.replaced.items():
            code = code.replace(word, other)
        return code

    def program(self, name: str, script: str) -> None:
        """Add a program to the path of the page's commands."""
        path = self.bin / name
        path.write_text(script)
        path.chmod(0o755)

    def write(self, name: str, content: str) -> Path:
        """Write a file into the folder of the page."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        return path

    def shell(self, code: str, *, statuses: tuple[int, ...] = (0,), stdin: str = "") -> str:
        """Run lines of a shell as they stand; the first that fails ends them."""
        script = f"{self.here(code)}\n"
        return self._run(["bash", "-c", f'. "{_PRELUDE}"\n{script}'], statuses, stdin)

    def python(self, code: str) -> str:
        """Run a Python program."""
        self.write("snippet.py", self.here(code))
        return self.shell("python snippet.py")

    def driven(self, driver: str, part: str, code: str) -> str:
        """Run a program, and then a function of a driver with the names that the program made.

        Args:
            driver: A module of tests/docs/snippets/drivers. It may use the helpers of the tests.
            part: The function in it.
            code: The program.
        """
        run = Path(__file__).parent / "drivers" / "run.py"
        command = [str(self.environment.python), str(run), driver, part]
        more = {"SNIPPETS_HELPERS": str(ROOT), "SERVER_URL": self.url}
        return self._run(command, (0,), self.here(code), more)

    def serve(self) -> None:
        """Start the page's server, as `taskshield serve` does, and wait until it is ready."""
        self.shell("taskshield serve")

    def get(self, path: str) -> str:
        """What the page's server answers."""
        with urllib.request.urlopen(f"{self.url}{path}", timeout=60) as answer:
            return str(answer.read().decode())

    def close(self) -> None:
        """End all that the page started."""
        self.ends.close()

    def _run(
        self,
        command: list[str],
        statuses: tuple[int, ...],
        stdin: str,
        more: Mapping[str, str] = MappingProxyType({}),
    ) -> str:
        variables = {
            **self.environment.variables(),
            "HOME": str(self.folder),
            "XDG_STATE_HOME": str(self.folder / ".state"),
            "TASKSHIELD_SERVER__PORT": str(self.port),
            "SNIPPETS_FOLDER": str(self.folder),
            "SNIPPETS_PORT": str(self.port),
            "SNIPPETS_UV": str(UV),
            "SNIPPETS_PYTHON": str(self.environment.python),
            "PYTHONUNBUFFERED": "1",
            **self.variables,
            **more,
        }
        variables["PATH"] = f"{self.bin}{os.pathsep}{variables['PATH']}"
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=variables,
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            start_new_session=True,
            timeout=600,
        )
        if done.returncode not in statuses:
            log = self.folder / "serve.log"
            told = log.read_text() if log.exists() else ""
            raise SnippetFailed(
                f"exit status {done.returncode}\n{done.stdout}{done.stderr}{told[-1000:]}"
            )
        self.printed = done.stdout
        return done.stdout

    def _stop(self) -> None:
        pids = self.folder / ".pids"
        for pid in pids.read_text().split() if pids.exists() else ():
            with suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGTERM)
            until(lambda pid=pid: not _running(int(pid)))  # type: ignore[misc]


def free_port() -> int:
    """A port that no process listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def until(true: Callable[[], bool]) -> None:
    """Wait until this is so."""
    end = time.monotonic() + _PATIENCE_S
    while not true():
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.05)


def shown(text: str, printed: str) -> bool:
    """Whether a command printed the text that a page shows; `...` stands for anything.

    Blanks are compared loosely, for a page may break a line.
    """
    parts = [re.escape(part) for part in re.split(r"\.\.\.", " ".join(text.split()))]
    return re.fullmatch(r".*".join(parts), " ".join(printed.split())) is not None


def _running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
