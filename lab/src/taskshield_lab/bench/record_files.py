"""Records in files: a header line, then one line for each run, written as soon as it is over."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TextIO, TypeVar

from taskshield.adapters import stored_values as values_json
from taskshield.core.errors import ConfigError, WireFormatError
from taskshield_lab.bench.records import BenchmarkRun, Header

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Archive:
    """All that a file holds."""

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
        run = _parsed(BenchmarkRun, text, path, number)
        earlier = runs.get(run.id)
        if earlier is not None and earlier.error is None:
            raise WireFormatError(f"{path}, line {number}: a second record of the same run")
        runs[run.id] = run  # one that failed may have been tried again
    return Archive(header=header, runs=tuple(runs.values()))


def line(run: BenchmarkRun) -> str:
    """A run as it stands in a file."""
    return values_json.dump(run)


class Writer:
    """Adds runs to a file; what was written is there even if the next run never ends.

    A new file is made with its first run, so that nothing is overwritten by an exam that comes to
    nothing.
    """

    def __init__(self, path: Path, header: Header | None) -> None:
        """Prepare to write.

        Args:
            path: The file.
            header: For a new file; None to go on with what is there.
        """
        self._path = path
        self._header = header
        self._file: TextIO | None = None

    def add(self, line: str) -> None:
        """Write down the line of a run."""
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
            raise ConfigError(f"{self._path} cannot be written: {error.strerror}") from None
        if self._header is not None:
            file.write(f"{values_json.dump(self._header)}\n")
        return file


Existing = Literal["refuse", "resume", "overwrite"]
"""What to do where there is a file already.

- refuse: raise
- resume: go on with it
- overwrite: begin anew
"""


def begin(
    path: Path, header: Header, *, existing: Existing
) -> tuple[Writer, tuple[BenchmarkRun, ...]]:
    """Get ready to write: the writer, and the runs that are already there.

    Args:
        path: The file. Its folder is made.
        header: What the runs have in common.
        existing: What to do where there is a file already.

    Raises:
        ConfigError: There is a file already, or it is of another exam.
        WireFormatError: The file is damaged.
    """
    if existing == "resume" and path.exists():
        _drop_half_a_line(path)
    if existing == "overwrite" or not path.exists():
        return Writer(path, header), ()
    if existing == "refuse":
        raise ConfigError(f"{path} exists; --resume goes on with it, --overwrite begins anew")
    found = read(path)
    if found.header != header:
        raise ConfigError(f"{path} is of another exam: {_difference(found.header, header)}")
    return Writer(path, None), found.runs


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
