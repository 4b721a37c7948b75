"""Builds what a release consists of, once in a run of the tests: the sdist, and the wheels.

The wheel of the product is built from the sdist, as for a release.
"""

import fcntl
import os
import subprocess
import sys
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
UV = Path(sys.executable).with_name("uv")
CERTIFICATES = "CERTIFICATES_OF_THIS_MACHINE"
"""Where tests/conftest.py puts what SSL_CERT_FILE was."""

_LAB_EXTRAS = {"eval", "train"}


@dataclass(frozen=True)
class Wheels:
    """The files of a release."""

    product: Path
    lab: Path
    sdist: Path

    def requirements(self, *extras: str) -> list[str]:
        """What an installer needs for the product with these extras."""
        named = f"taskshield[{','.join(extras)}]" if extras else "taskshield"
        found = [f"{named} @ {self.product.as_uri()}"]
        for extra in sorted(_LAB_EXTRAS.intersection(extras)):
            more = "[train]" if extra == "train" else ""
            found.append(f"taskshield-lab{more} @ {self.lab.as_uri()}")
        return found


def build(folder: Path) -> Wheels:
    """Build the sdist and the wheels into this folder."""
    install("build", "--quiet", "--out-dir", str(folder), str(ROOT))
    install("build", "--quiet", "--wheel", "--out-dir", str(folder), str(ROOT / "lab"))
    return _found_in(folder)


def build_once(temporary: pytest.TempPathFactory) -> Wheels:
    """The files of a release, built by the first test process that needs them."""
    base = temporary.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "wheels"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = folder / "done"
        if not done.exists():
            build(folder)
            done.touch()
    return _found_in(folder)


def install(
    *arguments: str, statuses: Collection[int] = (0,)
) -> "subprocess.CompletedProcess[str]":
    """Run uv, which builds and installs packages, with the settings of this machine.

    Args:
        arguments: Its command line.
        statuses: The exit statuses that are no failure.

    Raises:
        RuntimeError: It failed. The message has what it wrote.
    """
    done = subprocess.run(
        [UV, *arguments],
        env=install_variables(),
        cwd="/",  # or it would read settings from our pyproject.toml
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in statuses:
        raise RuntimeError(f"uv {' '.join(arguments)}\n{done.stdout}{done.stderr}")
    return done


def _found_in(folder: Path) -> Wheels:
    (product,) = folder.glob("taskshield-*.whl")
    (lab,) = folder.glob("taskshield_lab-*.whl")
    (sdist,) = folder.glob("taskshield-*.tar.gz")
    return Wheels(product, lab, sdist)


def install_variables() -> dict[str, str]:
    """The environment, with the addresses of packages that are set for pip, as in the Makefile."""
    left_out = ("PYTHON", "COV_", "VIRTUAL_ENV", "SSL_CERT_FILE")
    found = {key: value for key, value in os.environ.items() if not key.startswith(left_out)}
    if os.environ.get(CERTIFICATES):
        found["SSL_CERT_FILE"] = os.environ[CERTIFICATES]
    for ours, theirs in (
        ("UV_DEFAULT_INDEX", "PIP_INDEX_URL"),
        ("UV_FIND_LINKS", "PIP_FIND_LINKS"),
    ):
        if theirs in found:
            found.setdefault(ours, found[theirs])
    return found
