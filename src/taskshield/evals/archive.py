"""Records in files: a header line, then one line for each run, written as soon as it is over."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TextIO, TypeVar

from taskshield.adapters import values_json
from taskshield.core.errors import ConfigError, WireFormatError
from taskshield.evals.records import Header, Run

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Archive:
    """All that a file holds."""

    header: Header
    runs: tuple[Run, ...]


def read(path: Path) -> Archive:
    """Read a file of records.

    Raises:
        WireFormatError: The file cannot be read or a line of it is not a record.
    """
    lines = _lines(path)
    header = _header(path, lines)
    runs = tuple(_parsed(Run, line, path, number) for number, line in enumerate(lines[1:], start=2))
    if len({run.id for run in runs}) < len(runs):
        raise WireFormatError(f"{path}: two records of the same run")
    return Archive(header=header, runs=runs)


def line(run: Run) -> str:
    """A run as it stands in a file."""
    return values_json.dump(run)


class Writer:
    """Adds runs to a file; what was written is there even if the next run never ends."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def add(self, line: str) -> None:
        """Write down the line of a run."""
        self._file.write(f"{line}\n")
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


Existing = Literal["refuse", "resume", "overwrite"]
"""What to do where there is a file already.

- refuse: raise
- resume: go on with it
- overwrite: begin anew
"""


def begin(path: Path, header: Header, *, existing: Existing) -> tuple[Writer, frozenset[str]]:
    """Open a file for writing: the writer, and the ids of the runs that are already there.

    Args:
        path: The file. Its folder is made.
        header: What the runs have in common.
        existing: What to do where there is a file already.

    Raises:
        ConfigError: There is a file already, or it is of another exam.
        WireFormatError: The file is damaged.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if existing == "resume" and path.exists():
        _drop_half_a_line(path)
    if existing == "overwrite" or not path.exists():
        file = path.open("w", encoding="utf-8")
        file.write(f"{values_json.dump(header)}\n")
        file.flush()
        return Writer(file), frozenset()
    if existing == "refuse":
        raise ConfigError(f"{path} exists; --resume goes on with it, --overwrite begins anew")
    found = read(path)
    if found.header != header:
        raise ConfigError(f"{path} is of another exam: {_difference(found.header, header)}")
    return Writer(path.open("a", encoding="utf-8")), frozenset(run.id for run in found.runs)


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise WireFormatError(f"{path}: cannot be read: {type(error).__name__}") from None


def _header(path: Path, lines: list[str]) -> Header:
    if not lines:
        raise WireFormatError(f"{path}: no records in it")
    return _parsed(Header, lines[0], path, 1)


def _parsed(kind: type[_T], line: str, path: Path, number: int) -> _T:
    try:
        return values_json.load(kind, line)
    except WireFormatError as error:
        raise WireFormatError(f"{path}, line {number}: {error}") from None


def _drop_half_a_line(path: Path) -> None:
    """Take off a last line that an interruption left unfinished."""
    data = path.read_bytes()
    whole = data[: data.rfind(b"\n") + 1]
    if not whole:
        path.unlink()
    elif len(whole) < len(data):
        path.write_bytes(whole)


def _difference(there: Header, wanted: Header) -> str:
    names = [name for name in Header.__slots__ if getattr(there, name) != getattr(wanted, name)]
    return ", ".join(f"{name} differs" for name in names)
