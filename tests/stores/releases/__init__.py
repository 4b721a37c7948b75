"""The code of earlier releases, without weights, to test against what they write and read."""

import os
import sys
import tarfile
from collections.abc import Mapping
from pathlib import Path

RELEASED = ("0.1.0",)
_ROOT = Path(__file__).parents[3]


def unpacked(release: str, folder: Path) -> Path:
    """Unpack a release and return what belongs on the path."""
    with tarfile.open(Path(__file__).with_name(f"{release}.tar.xz")) as archive:
        archive.extractall(folder, filter="data")
    return folder / "src"


def environment(source: Path) -> Mapping[str, str]:
    """The environment in which Python imports taskshield from this folder, and the tests."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(source), str(_ROOT)])}


def python() -> str:
    """The interpreter."""
    return sys.executable
