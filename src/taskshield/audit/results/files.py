"""The files of an audit, written as it goes on, so that it can be broken off at any time.

`findings.jsonl` has a line for each finding. `journal.jsonl` begins with what the audit is about
and has a line for each conversation, for each thing that could not be read, and for the end of each
file. A line of the journal is written after the findings that belong to it: findings that no line
of the journal counts are of a conversation that was broken off, and are taken off on resuming.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from taskshield.audit.results.outcomes import Result
from taskshield.core.errors import ConfigError

FINDINGS = "findings.jsonl"
JOURNAL = "journal.jsonl"
_HEADER = "audit"


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What an audit is about. One that goes on must be about the same."""

    taskshield: str
    """Version."""
    judge: str
    version: str
    """Of the judge's model or prompt."""
    settings: str
    """A hash."""
    with_text: bool
    files: Mapping[str, int]
    """Length of each file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What an earlier run has finished."""

    entries: Mapping[str, int]
    """How much of each file."""
    ended: frozenset[str]
    """Files that were read to their end."""


class Results:
    """The files, open for writing."""

    def __init__(self, journal: IO[bytes], findings: IO[bytes]) -> None:
        self._journal = journal
        self._findings = findings

    def add(self, result: Result) -> None:
        """Write down what became of an entry."""
        if result.findings:
            self._findings.write("".join(f"{line}\n" for line in result.findings).encode())
            self._findings.flush()
        self._journal.write(f"{result.line}\n".encode())
        self._journal.flush()

    def close(self) -> None:
        """Close the files."""
        self._findings.close()
        self._journal.close()


def begin(folder: Path, header: Header, *, resume: bool) -> tuple[Results, Done]:
    """Get ready to write.

    Args:
        folder: Where the files are or will be.
        header: What the audit is about.
        resume: Whether to go on with what is there.

    Raises:
        ConfigError: There are results already, or they are of another audit or damaged.
    """
    journal, findings = folder / JOURNAL, folder / FINDINGS
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not (resume and _cut_to_lines(journal)):
            if not resume and journal.exists():
                raise ConfigError(
                    f"--out: {folder} holds an audit; --resume goes on with it, or choose another"
                )
            return _begun(journal, findings, header), Done(entries={}, ended=frozenset())
        done = _done(journal, header)
        _cut_to_lines(findings, _counted(journal))
        return Results(journal.open("ab"), findings.open("ab")), done
    except OSError as error:
        raise ConfigError(f"--out: {folder} cannot be written: {error.strerror}") from None


def lines(folder: Path, name: str) -> Iterator[dict[str, Any]]:
    """The lines of a file of results, but for the header.

    Raises:
        ConfigError: A line is damaged.
    """
    with (folder / name).open("rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                fields: dict[str, Any] = json.loads(line)
            except ValueError:
                raise ConfigError(f"{name}, line {number}: damaged") from None
            if fields.get("kind") != _HEADER:
                yield fields


def _begun(journal: Path, findings: Path, header: Header) -> Results:
    results = Results(journal.open("wb"), findings.open("wb"))
    results.add(Result(file="", read=0, line=json.dumps({"kind": _HEADER, **asdict(header)})))
    return results


def _done(journal: Path, wanted: Header) -> Done:
    with journal.open("rb") as file:
        there = json.loads(file.readline())
    fields = {name: value for name, value in there.items() if name != "kind"}
    changed = [name for name, value in asdict(wanted).items() if fields.get(name) != value]
    if changed:
        told = ", ".join(changed)
        raise ConfigError(f"--resume: {journal.parent} is of another audit; other are: {told}")
    entries: Counter[str] = Counter()
    ended = set()
    for line in lines(journal.parent, JOURNAL):
        if line["kind"] == "end":
            ended.add(line["file"])
        else:
            entries[line["file"]] += 1
    return Done(entries=entries, ended=frozenset(ended))


def _counted(journal: Path) -> int:
    """How many findings the journal tells of."""
    return sum(line.get("findings", 0) for line in lines(journal.parent, JOURNAL))


def _cut_to_lines(path: Path, most: int | None = None) -> bool:
    """Take off what an interruption left unfinished; whether anything is left.

    Args:
        path: The file.
        most: How many lines there should be; None takes all that are whole.

    Raises:
        ConfigError: There are fewer.
    """
    kept = number = 0
    with path.open("ab+") as file:
        file.seek(0)
        for line in file:
            if number == most or not line.endswith(b"\n"):
                break
            kept += len(line)
            number += 1
        file.truncate(kept)
    if most is not None and number < most:
        raise ConfigError(f"--resume: {path} is damaged: lines are missing")
    return kept > 0
