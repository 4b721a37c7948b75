"""Fresh virtual environments that have nothing but wheels in them, and commands that run in them.

Commands run outside of the repository, without its paths and without the settings of this process.
"""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email.parser import Parser
from functools import cache
from pathlib import Path

from tests.packaging.wheels import Wheels, install

PYTHONS = ("3.11", "3.12", "3.13")
"""The versions of Python that the project supports."""

_NOT_PASSED_ON = (
    "PYTHON",
    "COV_",
    "PYTEST_",
    "VIRTUAL_ENV",
    "TASKSHIELD_",
    "OPENAI_",
    "ANTHROPIC_",
)
_OWN = re.compile(r"taskshield(?P<lab>-lab)?(\[(?P<extras>[\w,-]+)\])?$")
_EXTRA = re.compile(r"(\band )?\bextra == ['\"](?P<name>[\w-]+)['\"]")


@dataclass(frozen=True)
class Environment:
    """A virtual environment."""

    folder: Path
    wheels: Wheels
    """Where the product in it came from."""

    @property
    def python(self) -> Path:
        """Its Python."""
        return self.folder / "bin" / "python"

    def program(self, name: str = "taskshield") -> Path:
        """A command that a package brought."""
        return self.folder / "bin" / name

    def variables(self, **more: str) -> dict[str, str]:
        """The environment variables of its commands: none that are ours, and an empty home."""
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        path = os.pathsep.join([str(self.folder / "bin"), os.environ["PATH"]])
        return clean_variables(PATH=path, HOME=str(home), **more)

    def run(
        self, *command: str | Path, cwd: Path, stdin: str = "", check: bool = True, **more: str
    ) -> "subprocess.CompletedProcess[str]":
        """Run a command, and return what it wrote.

        Args:
            command: A program of the environment, or a path, and its arguments.
            cwd: Where it runs, outside of the repository.
            stdin: What it reads.
            check: Whether another exit status than 0 is an error.
            more: More environment variables.

        Raises:
            RuntimeError: It failed. The message has what it wrote.
        """
        first = command[0] if isinstance(command[0], Path) else self.program(command[0])
        done = subprocess.run(
            [first, *command[1:]],
            cwd=cwd,
            input=stdin,
            env=self.variables(**more),
            capture_output=True,
            text=True,
            check=False,
        )
        if check and done.returncode != 0:
            said = f"exit status {done.returncode}\n{done.stdout}{done.stderr}"
            raise RuntimeError(f"{' '.join(map(str, command))}: {said}")
        return done

    def remove(self) -> None:
        """Delete it."""
        shutil.rmtree(self.folder)


def clean_variables(base: Mapping[str, str] = os.environ, /, **more: str) -> dict[str, str]:
    """Environment variables without those of this process, its tests and its settings."""
    kept = {key: text for key, text in base.items() if not key.startswith(_NOT_PASSED_ON)}
    return {**kept, **more}


def make_environment(
    folder: Path, wheels: Wheels, *extras: str, python: Path | None = None, lowest: bool = False
) -> Environment:
    """Make an environment with the product and these extras.

    Args:
        folder: Where to make it; outside of the repository.
        wheels: What to install.
        extras: Extras of the product.
        python: The Python of the environment; by default the version that runs the tests.
        lowest: Whether to install the oldest versions that our wheel allows, not the newest.
    """
    base = find_python() if python is None else python
    install("venv", "--quiet", "--python", str(base), str(folder))
    made = Environment(folder, wheels)
    needed = wheels.requirements(*extras)
    if lowest:
        # uv takes the lowest version of what it is asked for by name.
        needed += [*direct_requirements(wheels, *extras), "--resolution", "lowest-direct"]
    install("pip", "install", "--quiet", "--python", str(made.python), *needed)
    return made


def direct_requirements(wheels: Wheels, *extras: str) -> list[str]:
    """The packages that the wheels' own metadata ask for, with these extras of the product."""
    found = []
    for text in _required(wheels.product, extras):
        own = _OWN.match(text)
        if own is None:
            found.append(text)
        elif own["lab"]:
            found += _required(wheels.lab, (own["extras"] or "").split(","))
            found += direct_requirements(wheels, "openai", "anthropic")
        else:
            found += direct_requirements(wheels, *(own["extras"] or "").split(","))
    return [text for text in dict.fromkeys(found) if _OWN.match(text) is None]


def _required(wheel: Path, extras: Sequence[str]) -> list[str]:
    """What the metadata of a wheel ask for: always, and with these extras."""
    with zipfile.ZipFile(wheel) as file:
        (name,) = (name for name in file.namelist() if name.endswith(".dist-info/METADATA"))
        lines = Parser().parsestr(file.read(name).decode()).get_all("Requires-Dist", [])
    found = []
    for line in lines:
        requirement, _, marker = (part.strip() for part in line.partition(";"))
        extra = _EXTRA.search(marker)
        if extra is None or extra["name"] in extras:
            rest = _EXTRA.sub("", marker).strip().strip("()")
            found.append(f"{requirement}; {rest}" if rest else requirement)
    return found


@cache
def find_python(version: str = f"{sys.version_info[0]}.{sys.version_info[1]}") -> Path:
    """The Python of this version, such as "3.12".

    Raises:
        LookupError: This machine has none.
    """
    for path in _candidates(version):
        told = _answer([str(path), "-c", "import sys, venv; print('%d.%d' % sys.version_info[:2])"])
        if told == version:
            return path
    raise LookupError(f"Python {version} is not installed")


def found_pythons(versions: Sequence[str] = PYTHONS) -> dict[str, Path]:
    """Those of these versions that this machine has."""
    found = {}
    for version in versions:
        try:
            found[version] = find_python(version)
        except LookupError:
            continue
    return found


def _candidates(version: str) -> list[Path]:
    base = Path(sys.base_prefix) / "bin" / f"python{version}"
    roots = [Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"]
    roots.append(Path.home() / ".local" / "share" / "uv" / "python")
    installed = [
        path for root in roots for path in sorted(root.glob(f"*{version}.*/bin/python{version}"))
    ]
    on_path = shutil.which(f"python{version}")
    found = [base, *reversed(installed), *([Path(on_path)] if on_path else [])]
    return [path for path in found if path.exists()]


def _answer(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""
