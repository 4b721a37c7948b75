"""The files of an audit, written result by result, so that it can be interrupted at any time.

`findings.jsonl` has a line for each finding. `journal.jsonl` has a header, and a line for each
conversation, each unreadable entry and the end of each file. A line of the journal is written after
its findings. Findings that no journal line counts belong to an interrupted conversation, and are
removed on resuming.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any, Literal, get_origin, get_type_hints

from taskshield.audit.results.findings import Row
from taskshield.audit.results.outcomes import Checked, Ended, Failed, Result
from taskshield.core.errors import ConfigError

FINDINGS = "findings.jsonl"
JOURNAL = "journal.jsonl"
_HEADER = "audit"
_KINDS: Mapping[object, type] = {
    "conversation": Checked,
    "failure": Failed,
    "end": Ended,
    FINDINGS: Row,
}
"""What a line has to hold: the files may have been damaged, or may come from others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """The settings and inputs of an audit. A resumed audit must have the same."""

    taskshield: str
    """Version."""
    judge: str
    version: str
    """Version of the judge's model or prompt."""
    settings: str
    """Hash of the settings."""
    with_text: bool
    files: Mapping[str, int]
    """Length of each file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What an earlier run completed."""

    entries: Mapping[str, int]
    """Number of entries, by file."""
    ended: frozenset[str]
    """Files that were read to their end."""


class Results:
    """The open files."""

    def __init__(self, journal: IO[bytes], findings: IO[bytes]) -> None:
        self._journal = journal
        self._findings = findings

    def add(self, result: Result) -> None:
        """Write the result of an entry."""
        if result.findings:
            self._findings.write("".join(f"{line}\n" for line in result.findings).encode())
            self._findings.flush()
        self._journal.write(f"{result.line}\n".encode())
        self._journal.flush()

    def close(self) -> None:
        """Close the files."""
        self._findings.close()
        self._journal.close()


def open_results(folder: Path, header: Header, *, resume: bool) -> tuple[Results, Done]:
    """Open the files of results.

    Args:
        folder: The folder of the files.
        header: The settings and inputs of the audit.
        resume: Whether to continue existing files.

    Raises:
        ConfigError: There are results already, or they are of another audit, or damaged.
    """
    journal, findings = folder / JOURNAL, folder / FINDINGS
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not (resume and _cut_to_lines(journal)):
            if not resume and journal.exists():
                raise ConfigError(
                    f"--out: {folder} already has an audit. Use --resume to continue it, or choose"
                    " another folder."
                )
            return _begun(journal, findings, header), Done(entries={}, ended=frozenset())
        done = _done(journal, header)
        _cut_to_lines(findings, _counted(journal))
        return Results(journal.open("ab"), findings.open("ab")), done
    except OSError as error:
        raise ConfigError(f"--out: {folder} cannot be written: {error.strerror}.") from None


def lines(folder: Path, name: str) -> Iterator[dict[str, Any]]:
    """The lines of a file of results, without the header.

    Raises:
        ConfigError: A line is damaged.
    """
    with (folder / name).open("rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                fields: dict[str, Any] = _object(line)
                kind = fields.get("kind") if name == JOURNAL else FINDINGS
                if kind != _HEADER:
                    _check(fields, _KINDS[kind])
                    yield fields
            except (ValueError, KeyError, TypeError):
                raise ConfigError(f"{name}, line {number} is damaged.") from None


def _begun(journal: Path, findings: Path, header: Header) -> Results:
    results = Results(journal.open("wb"), findings.open("wb"))
    results.add(Result(file="", read=0, line=json.dumps({"kind": _HEADER, **asdict(header)})))
    return results


def _object(line: bytes) -> dict[str, Any]:
    try:
        return dict(json.loads(line))
    except RecursionError:
        raise ValueError from None


def _check(fields: Mapping[str, Any], kind: type) -> None:
    """Compare types. Not with pydantic, which refuses texts that a log may hold."""
    for name, hint in get_type_hints(kind).items():
        if not isinstance(fields[name], str if get_origin(hint) is Literal else hint):
            raise TypeError(name)


def _done(journal: Path, wanted: Header) -> Done:
    with journal.open("rb") as file:
        try:
            there = _object(file.readline())
        except (ValueError, TypeError):
            raise ConfigError(f"{JOURNAL}, line 1 is damaged.") from None
    fields = {name: value for name, value in there.items() if name != "kind"}
    changed = [name for name, value in asdict(wanted).items() if fields.get(name) != value]
    if changed:
        raise ConfigError(
            f"--resume: {journal.parent} belongs to another audit."
            f" These differ: {', '.join(changed)}."
        )
    entries: Counter[str] = Counter()
    ended = set()
    for line in lines(journal.parent, JOURNAL):
        if line["kind"] == "end":
            ended.add(line["file"])
        else:
            entries[line["file"]] += 1
    return Done(entries=entries, ended=frozenset(ended))


def _counted(journal: Path) -> int:
    """The number of findings that the journal counts."""
    return sum(line.get("findings", 0) for line in lines(journal.parent, JOURNAL))


def _cut_to_lines(path: Path, most: int | None = None) -> bool:
    """Remove unfinished lines. Whether any line is left.

    Args:
        path: The file.
        most: The expected number of lines. None keeps all complete lines.

    Raises:
        ConfigError: There are fewer lines.
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
        raise ConfigError(f"--resume: {path} is damaged: lines are missing.")
    return kept > 0
