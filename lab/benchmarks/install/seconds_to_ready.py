"""Seconds and bytes from nothing to a server that is ready: uvx, pip install and make serve.

Each way starts in an empty folder and ends when GET /readyz answers 200. "Cold" begins with empty
caches of pip and uv, so all packages are downloaded; "warm" has them. The wheel and the sdist are
built before and are local files. Run nothing else on the machine; the cold times depend on the
network. A container needs an engine, which this script does not have.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

from taskshield_lab.bench.scripts import results_file

ROOT = Path(__file__).parents[3]
UV = Path(sys.executable).with_name("uv")
WAIT_S = 600


@dataclass(frozen=True)
class Place:
    """Where one way is measured: an empty folder, caches, and what was built."""

    folder: Path
    caches: Path
    wheel: Path
    sdist: Path

    @property
    def variables(self) -> dict[str, str]:
        """Environment variables: the caches, any free port, and the addresses set for pip."""
        given = {key: text for key, text in os.environ.items() if not key.startswith("VIRTUAL_ENV")}
        found = {
            **given,
            "PIP_CACHE_DIR": str(self.caches / "pip"),
            "UV_CACHE_DIR": str(self.caches / "uv"),
            "UV_TOOL_DIR": str(self.folder / "tools"),
            "TASKSHIELD_SERVER__PORT": "0",
            "TASKSHIELD_SERVER__STORE": f"sqlite:///{self.folder / 'store.db'}",
        }
        for ours, theirs in (
            ("UV_DEFAULT_INDEX", "PIP_INDEX_URL"),
            ("UV_FIND_LINKS", "PIP_FIND_LINKS"),
        ):
            if theirs in found:
                found.setdefault(ours, found[theirs])
        return found

    def run(self, *command: str | Path) -> None:
        """Run a command of the way, and fail if it fails."""
        subprocess.run(
            command, cwd=self.folder, env=self.variables, check=True, stdout=subprocess.DEVNULL
        )


Way = Callable[[Place], Sequence[str | Path]]
"""Installs what is to be installed beforehand; the answer is the command that serves."""


def uvx(place: Place) -> Sequence[str | Path]:
    """`uvx --from taskshield[server] taskshield serve`."""
    wanted = f"taskshield[server] @ {place.wheel.as_uri()}"
    return [UV, "tool", "run", "--quiet", "--from", wanted, "taskshield", "serve"]


def pip_install(place: Place) -> Sequence[str | Path]:
    """`python -m venv` and `pip install taskshield[server]`, then `taskshield serve`."""
    place.run(sys.executable, "-m", "venv", "env")
    programs = place.folder / "env" / "bin"
    place.run(programs / "pip", "install", "--quiet", f"{place.wheel}[server]")
    return [programs / "taskshield", "serve"]


def make_serve(place: Place) -> Sequence[str | Path]:
    """`make serve` in the unpacked sdist."""
    with tarfile.open(place.sdist) as file:
        file.extractall(place.folder, filter="data")
    (unpacked,) = (path for path in place.folder.iterdir() if path.is_dir())
    return ["make", "--silent", "-C", unpacked, f"PYTHON={sys.executable}", "serve"]


WAYS: tuple[Way, ...] = (uvx, pip_install, make_serve)


def built(folder: Path) -> tuple[Path, Path]:
    """The wheel and the sdist of this tree."""
    subprocess.run([UV, "build", "--quiet", "--out-dir", folder, ROOT], check=True)
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, sdist


def measured(way: Way, place: Place) -> dict[str, object]:
    """Seconds until ready, and what is on the disk then.

    pip caches packages as they were downloaded, uv caches them unpacked.
    """
    place.folder.mkdir()
    started = time.perf_counter()
    command = way(place)
    installed = time.perf_counter() - started
    seconds = _ready(command, place) - started
    return {
        "seconds": round(seconds, 1),
        "seconds_before_serve": round(installed, 1),
        "cached_bytes": _bytes(place.caches),
        "installed_bytes": _bytes(place.folder),
    }


def _ready(command: Sequence[str | Path], place: Place) -> float:
    """When the server that this command starts says that it is ready."""
    with subprocess.Popen(
        command,
        cwd=place.folder,
        env=place.variables,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as running:
        try:
            assert running.stderr is not None
            lines = []
            for line in running.stderr:
                lines.append(line)
                if line.startswith("{") and json.loads(line)["event"] == "listening":
                    return _answered(f"http://127.0.0.1:{json.loads(line)['port']}/readyz")
            raise RuntimeError("The server did not start:\n" + "".join(lines))
        finally:
            os.killpg(running.pid, signal.SIGTERM)


def _answered(url: str) -> float:
    until = time.perf_counter() + WAIT_S
    while time.perf_counter() < until:
        try:
            with urlopen(url):
                return time.perf_counter()
        except (HTTPError, URLError):
            time.sleep(0.02)
    raise RuntimeError(f"The server was not ready after {WAIT_S} seconds.")


def _bytes(folder: Path) -> int:
    """Bytes of the files in a folder; a file with several names counts once."""
    files = (path.lstat() for path in folder.rglob("*") if path.is_file())
    return sum({(each.st_dev, each.st_ino): each.st_size for each in files}.values())


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "dist").mkdir()
        wheel, sdist = built(folder / "dist")
        figures: dict[str, object] = {
            "wheel_bytes": wheel.stat().st_size,
            "sdist_bytes": sdist.stat().st_size,
            "processors": os.cpu_count(),
            "load_before": round(os.getloadavg()[0], 1),
        }
        for way in WAYS:
            caches = folder / "caches" / way.__name__
            caches.mkdir(parents=True)
            found = {}
            for caching in ("cold", "warm"):
                place = Place(folder / f"{way.__name__}-{caching}", caches, wheel, sdist)
                found[caching] = measured(way, place)
                shutil.rmtree(place.folder)
            figures[way.__name__] = found
            shutil.rmtree(caches)
    path = results_file.write("install", figures, inputs=[], folder=results_file.RESULTS)
    print(json.dumps(figures, indent=2))
    print(f"The figures were written to {path.name}.")


if __name__ == "__main__":
    main()
