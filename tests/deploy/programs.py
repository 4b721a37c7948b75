"""Programs that the tests of this folder run. They come as wheels, but not for every machine."""

import os
import shutil
import sys
from pathlib import Path

import pytest


def program(name: str) -> str:
    """The path of a program: the one that was installed with the tests, or the machine's own."""
    places = (str(Path(sys.executable).parent), os.environ["PATH"])
    found = shutil.which(name, path=os.pathsep.join(places))
    if found is None:
        pytest.fail(f"{name} is not installed, and there is no wheel of it for this machine.")
    return found
