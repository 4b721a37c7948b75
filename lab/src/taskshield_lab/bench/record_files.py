"""Files of records: a header line, then one line for each run, written when the run ends."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TextIO, TypeVar

from taskshield.adapters.stored.documents import read_json, write_json
from taskshield.adapters.stored.shapes import Shape
from taskshield.core.errors import ConfigError, WireFormatError
from taskshield_lab.bench.record_shapes import HEADER, RUN
from taskshield_lab.bench.records import BenchmarkRun, Header

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Archive:
    """The contents of a file of records."""

    header: Header
    runs: tuple[BenchmarkRun, ...]


def read(path: Path) -> Archive:
    """Read a file of records.

    Raises:
        WireFormatError: The file cannot be read or a line of it is not a record.
    """
    lines = _lines(path)
    header = _header(path, lines)
    runs: dict[str, BenchmarkRun] = {}
    for number, text in enumerate(lines[1:], start=2):
        run = _parsed(RUN, text, path, number)
        earlier = runs.get(run.id)
        if earlier is not None and earlier.error is None:
            raise WireFormatError(
                f"{path}, line {number}: the file has two records of the same run."
            )
        runs[run.id] = run  # a failed run may have been repeated
    return Archive(header=header, runs=tuple(runs.values()))


def line(run: BenchmarkRun) -> str:
    """The line of a run."""
    return write_json(RUN, run, "BenchmarkRun")


class Writer:
    """Appends runs to a file and flushes after each one.

    A new file is created with its first run, so a benchmark without runs overwrites nothing.
    """

    def __init__(self, path: Path, header: Header | None) -> None:
        """Prepare to write.

        Args:
            path: The file.
            header: For a new file. None appends to an existing file.
        """
        self._path = path
        self._header = header
        self._file: TextIO | None = None

    def add(self, line: str) -> None:
        """Write the line of a run."""
        if self._file is None:
            self._file = self._opened()
        self._file.write(f"{line}\n")
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def _opened(self) -> TextIO:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            file = self._path.open("a" if self._header is None else "w", encoding="utf-8")
        except OSError as error:
            raise ConfigError(f"{self._path} cannot be written: {error.strerror}.") from None
        if self._header is not None:
            file.write(f"{write_json(HEADER, self._header, 'Header')}\n")
        return file


Existing = Literal["refuse", "resume", "overwrite"]
"""What to do when the file exists.

- refuse: raise
- resume: append to it
- overwrite: replace it
"""


def begin(
    path: Path, header: Header, *, existing: Existing
) -> tuple[Writer, tuple[BenchmarkRun, ...]]:
    """Open a file of records: the writer, and the runs that the file already has.

    Args:
        path: The file. Its folder is made.
        header: What the runs have in common.
        existing: What to do when the file exists.

    Raises:
        ConfigError: The file exists, or it belongs to another benchmark.
        WireFormatError: The file is damaged.
    """
    if existing == "resume" and path.exists():
        _remove_unfinished_line(path)
    if existing == "overwrite" or not path.exists():
        return Writer(path, header), ()
    if existing == "refuse":
        raise ConfigError(
            f"{path} already exists. Use --resume to continue it or --overwrite to replace it."
        )
    found = read(path)
    if found.header != header:
        raise ConfigError(
            f"{path} belongs to another benchmark: {_difference(found.header, header)}."
            " Use --overwrite to replace it, or choose another --name."
        )
    return Writer(path, None), found.runs


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise WireFormatError(f"{path} cannot be read ({type(error).__name__}).") from None


def _header(path: Path, lines: list[str]) -> Header:
    if not lines:
        raise WireFormatError(f"{path} has no records.")
    return _parsed(HEADER, lines[0], path, 1)


def _parsed(shape: Shape[_T], line: str, path: Path, number: int) -> _T:
    try:
        return read_json(shape, line, "record")
    except WireFormatError as error:
        raise WireFormatError(f"{path}, line {number}: {error}") from None


def _remove_unfinished_line(path: Path) -> None:
    """Remove an unfinished last line, which an interruption may have left."""
    data = path.read_bytes()
    whole = data[: data.rfind(b"\n") + 1]
    if not whole:
        path.unlink()
    elif len(whole) < len(data):
        path.write_bytes(whole)


def _difference(there: Header, wanted: Header) -> str:
    names = [name for name in Header.__slots__ if getattr(there, name) != getattr(wanted, name)]
    return ", ".join(f"{name} differs" for name in names)
