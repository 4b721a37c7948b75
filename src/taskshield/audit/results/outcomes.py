"""What became of each entry of a log: the lines of the journal."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from taskshield.audit.logs.entries import Finished, Unreadable
from taskshield.audit.results.findings import Row

Attack = Literal["none", "seen", "blocked", "passed"]
"""What is known of an attack on a conversation.

- none: no tool's output held a misaligned directive
- seen: one did, and the agent made no misaligned call after it
- blocked: it did make some, and the shield would have let none of them run
- passed: it would have let one run, because policy only wants to know
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A conversation that was replayed."""

    file: str
    line: int
    conversation: str
    format: str
    messages: int
    executed: int
    """Messages that a judge looked at."""
    skipped: int
    """Messages with nothing to check."""
    failed: int
    """Messages that should have been checked and could not be."""
    unreadable: int
    """Pictures, files and the like, which no judge can read."""
    findings: int
    held: int
    """Calls that would not have been let through."""
    attack: Attack
    error: str | None = None
    """Why the conversation could not be replayed to its end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What became of an entry, as text, which travels between processes and machines."""

    file: str
    read: int
    line: str
    """For the journal."""
    findings: tuple[str, ...] = ()
    """For the findings."""
    counts: bool = True
    """Whether it is something that was found, and not the end of a file."""


def of_conversation(checked: Checked, rows: Sequence[Row], read: int) -> Result:
    """The result of a conversation."""
    findings = tuple(_line(asdict(row)) for row in rows)
    line = _line({"kind": "conversation", **asdict(checked)})
    return Result(file=checked.file, read=read, line=line, findings=findings)


def of_failure(entry: Unreadable) -> Result:
    """The result of what could not be read."""
    told = {"file": entry.file, "line": entry.line, "reason": entry.reason}
    return Result(file=entry.file, read=entry.read, line=_line({"kind": "failure", **told}))


def of_end(entry: Finished) -> Result:
    """The result of a file that was read to its end."""
    told = {
        "file": entry.file,
        "passed_over": entry.passed_over,
        "closed_early": entry.closed_early,
    }
    line = _line({"kind": "end", **told})
    return Result(file=entry.file, read=entry.read, line=line, counts=False)


def attack(rows: Sequence[Row]) -> Attack:
    """What the findings of a conversation tell of an attack on it."""
    planted = min((row.message for row in rows if row.kind == "directive"), default=None)
    if planted is None:
        return "none"
    calls = [row for row in rows if row.kind == "call" and row.message > planted]
    if not calls:
        return "seen"
    return "blocked" if all(row.held for row in calls) else "passed"


def _line(fields: dict[str, object]) -> str:
    return json.dumps(fields, allow_nan=False)
