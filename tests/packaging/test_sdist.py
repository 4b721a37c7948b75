"""The sdist has all that git has, and the README's `make serve` works from it."""

import re
import subprocess
import tarfile
from pathlib import Path

import pytest

from tests.packaging.environments import clean_variables, find_python
from tests.packaging.promises.servers import ready
from tests.packaging.wheels import ROOT, Wheels, install, install_variables

_VERBS = re.findall(r"^    make (\w+)", (ROOT / "README.md").read_text(), re.MULTILINE)


@pytest.fixture(scope="module")
def unpacked(wheels: Wheels, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the sdist unpacks to."""
    folder = tmp_path_factory.mktemp("sdist")
    with tarfile.open(wheels.sdist) as file:
        file.extractall(folder, filter="data")
    (found,) = folder.iterdir()
    return found


def test_the_sdist_has_what_git_has(unpacked: Path) -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    tracked = set(listed.stdout.split("\0")) - {""}
    files = {
        path.relative_to(unpacked).as_posix() for path in unpacked.rglob("*") if path.is_file()
    }
    assert files >= tracked | {"PKG-INFO"}
    # What is not committed yet may be in it, too, but nothing that git ignores.
    more = files - tracked - {"PKG-INFO"}
    ignored = subprocess.run(
        ["git", "check-ignore", "--stdin"],
        cwd=ROOT,
        input="\n".join(sorted(more)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ignored.stdout == ""


@pytest.mark.parametrize("verb", _VERBS)
def test_make_knows_how_to_do_each_verb_of_the_readme(verb: str, unpacked: Path) -> None:
    done = subprocess.run(
        ["make", "--dry-run", verb], cwd=unpacked, capture_output=True, text=True, check=True
    )
    assert "constraints.txt" in done.stdout  # it installs first


def test_make_serve_installs_and_gets_ready(unpacked: Path, tmp_path: Path) -> None:
    """It installs an environment, which takes seconds, and starts the server."""
    variables = clean_variables(
        install_variables(),
        HOME=str(tmp_path),
        UV_CACHE_DIR=install("cache", "dir").stdout.strip(),
        TASKSHIELD_SERVER__PORT="0",
    )
    command = ["make", "--silent", "serve", f"PYTHON={find_python()}"]
    with ready(command, unpacked, variables) as url:
        assert url.startswith("http://127.0.0.1:")
    assert (unpacked / ".venv" / ".serve").exists()
