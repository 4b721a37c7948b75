"""The result of each entry of a log: the lines of the journal."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from taskshield.audit.logs.entries import Finished, Unreadable
from taskshield.audit.results.findings import Row

Attack = Literal["none", "seen", "blocked", "passed"]
"""Whether a conversation was attacked, and how it ended.

- none: no tool output had a misaligned directive
- seen: one had, and the agent made no misaligned call after it
- blocked: the agent made misaligned calls, and the shield would have blocked all of them
- passed: the shield would have allowed one of them, because the policy only observes
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A replayed conversation."""

    file: str
    line: int
    conversation: str
    format: str
    messages: int
    executed: int
    """Messages that a judge checked."""
    skipped: int
    """Messages with nothing to check."""
    failed: int
    """Messages whose check failed."""
    unreadable: int
    """Pictures, files and other parts that a judge cannot read."""
    findings: int
    held: int
    """Calls that the shield would have blocked."""
    attack: Attack
    error: str | None = None
    """Why the replay stopped before the end, if it did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """An entry that could not be read."""

    file: str
    line: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The end of a file."""

    file: str
    passed_over: int
    """Records that are no part of a conversation."""
    closed_early: int
    """Conversations that were closed before the end of the file, to bound memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The result of an entry, as text, so that it can be sent between processes and machines."""

    file: str
    read: int
    line: str
    """Line of the journal."""
    findings: tuple[str, ...] = ()
    """Lines of the findings."""
    counts: bool = True
    """Whether it is a conversation or a failure, not the end of a file."""


def of_conversation(checked: Checked, rows: Sequence[Row], read: int) -> Result:
    """The result of a conversation."""
    findings = tuple(_line(asdict(row)) for row in rows)
    line = _line({"kind": "conversation", **asdict(checked)})
    return Result(file=checked.file, read=read, line=line, findings=findings)


def of_failure(entry: Unreadable) -> Result:
    """The result of an unreadable entry."""
    failed = Failed(file=entry.file, line=entry.line, reason=entry.reason)
    line = _line({"kind": "failure", **asdict(failed)})
    return Result(file=entry.file, read=entry.read, line=line)


def of_end(entry: Finished) -> Result:
    """The result at the end of a file."""
    ended = Ended(file=entry.file, passed_over=entry.passed_over, closed_early=entry.closed_early)
    line = _line({"kind": "end", **asdict(ended)})
    return Result(file=entry.file, read=entry.read, line=line, counts=False)


def attack(rows: Sequence[Row]) -> Attack:
    """Whether the findings of a conversation show an attack."""
    injected = min((row.message for row in rows if row.kind == "directive"), default=None)
    if injected is None:
        return "none"
    calls = [row for row in rows if row.kind == "call" and row.message > injected]
    if not calls:
        return "seen"
    return "blocked" if all(row.held for row in calls) else "passed"


def _line(fields: dict[str, object]) -> str:
    return json.dumps(fields, allow_nan=False)
