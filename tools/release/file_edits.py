"""What a release changes in files: the version, the changelog, and the list of frozen formats.

Owns which files name the version. Knows nothing of git.
"""

import hashlib
import re
from pathlib import Path

from tools.release.refusal import Refusal

VERSION_FILE = "src/taskshield/_version.py"
CHART = "deploy/helm/taskshield/Chart.yaml"
COMPOSE = "deploy/compose.yaml"
CHANGELOG = "CHANGELOG.md"
FORMATS = "tests/adapters/stored/formats"
FROZEN = "tests/adapters/stored/frozen.tsv"

_ASSIGNED = re.compile(r'^__version__ = "([^"]+)"$', re.MULTILINE)
_UNRELEASED = "## Unreleased\n"
_NUMBERS = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")


def parse_version(text: str) -> tuple[int, ...]:
    """The three numbers of a version.

    Raises:
        Refusal: It is not of the form x.y.z.
    """
    match = _NUMBERS.fullmatch(text)
    if match is None:
        raise Refusal(f"{text!r} is no version: give three numbers, such as 0.2.0")
    return tuple(int(number) for number in match.groups())


def read_version(root: Path) -> str:
    """The version that the package has."""
    match = _ASSIGNED.search((root / VERSION_FILE).read_text(encoding="utf-8"))
    if match is None:
        raise Refusal(f"{VERSION_FILE} has no version")
    return match[1]


def set_version(root: Path, version: str) -> None:
    """Write the version into each file that names it."""
    for name, pattern, text in (
        (VERSION_FILE, _ASSIGNED.pattern, f'__version__ = "{version}"'),
        (CHART, r"^version: \S+$", f"version: {version}"),
        (CHART, r"^appVersion: \S+$", f"appVersion: {version}"),
        (COMPOSE, r"(?<=\$\{TASKSHIELD_IMAGE:-taskshield:)[^}]+", version),
    ):
        path = root / name
        before = path.read_text(encoding="utf-8")
        after, count = re.subn(pattern, text, before, flags=re.MULTILINE)
        if count != 1:
            raise Refusal(f"{name} names the version {count} times, not once")
        path.write_text(after, encoding="utf-8")


def unreleased_notes(root: Path) -> str:
    """What the changelog has under "Unreleased".

    Raises:
        Refusal: There is no such heading, or nothing under it.
    """
    text = (root / CHANGELOG).read_text(encoding="utf-8")
    _, heading, rest = text.partition(f"\n{_UNRELEASED}")
    notes = re.split(r"^## ", rest, maxsplit=1, flags=re.MULTILINE)[0].strip()
    if not heading or not notes:
        raise Refusal(f'{CHANGELOG} has nothing under "Unreleased"')
    return notes


def move_unreleased(root: Path, version: str, date: str) -> None:
    """Give the notes under "Unreleased" the heading of the version, and leave that empty."""
    unreleased_notes(root)
    path = root / CHANGELOG
    text = path.read_text(encoding="utf-8")
    heading = f"{_UNRELEASED}\n## {version} - {date}\n"
    path.write_text(text.replace(_UNRELEASED, heading, 1), encoding="utf-8")


def frozen_formats(root: Path) -> dict[str, str]:
    """The fixtures of stored formats that a release has frozen: their SHA-256 by path."""
    path = root / FROZEN
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    rows = [line.split("\t") for line in lines[1:]]
    return {name: digest for _, digest, name in rows}


def check_formats(root: Path) -> None:
    """Compare the frozen fixtures with their files.

    Raises:
        Refusal: One of them has changed or is gone: documents of that release exist.
    """
    for name, digest in frozen_formats(root).items():
        path = root / FORMATS / name
        if not path.is_file() or _digest(path) != digest:
            raise Refusal(f"{FORMATS}/{name} is frozen by a release and has changed")


def freeze_formats(root: Path, version: str) -> list[str]:
    """Freeze the fixtures that no release has frozen. Returns their paths."""
    check_formats(root)
    path = root / FROZEN
    known = frozen_formats(root)
    folder = root / FORMATS
    files = sorted(each for each in folder.rglob("*") if each.is_file())
    names = [each.relative_to(folder).as_posix() for each in files]
    new = [name for name in names if name not in known]
    head = path.read_text(encoding="utf-8") if path.exists() else "release\tsha256\tfile\n"
    rows = [f"{version}\t{_digest(folder / name)}\t{name}\n" for name in new]
    path.write_text(head + "".join(rows), encoding="utf-8")
    return new


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
