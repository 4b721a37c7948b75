"""The figures of an audit, counted from its files, so that interruptions do not change them.

Counted here and not with polars: lines are read one at a time, at most 1,000 names are kept, and a
damaged line is named. `results/parquet.py` needs pyarrow, which also reads Parquet logs in batches;
polars would be a second library for the same format.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, get_args

from taskshield.audit.results.files import FINDINGS, JOURNAL, lines
from taskshield.audit.results.outcomes import Attack

_NAMES = 1_000
"""Number of different names that are counted. Further tools and reasons are counted together."""
OTHERS = "(others)"
_LISTED = 20
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """An entry that could not be read completely."""

    file: str
    line: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The figures of an audit."""

    files: int
    """Files that were read to their end."""
    conversations: int
    """Conversations that were checked, at least in part."""
    failures: int
    """Lines and conversations that could not be read completely."""
    failure_reasons: Mapping[str, int]
    """Failures by reason, with numbers replaced."""
    first_failures: tuple[Failure, ...]
    """The first few failures. All are in the journal."""
    passed_over: int
    """Records that are no part of a conversation, such as spans of a database."""
    closed_early: int
    """Conversations that were closed before the end of their file, to bound memory."""
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
    suspicious: int
    """Conversations with findings."""
    held: int
    """Calls that the shield would have blocked."""
    attacks: Mapping[Attack, int]
    """Attacked conversations, by how the attack ended."""
    by_kind: Mapping[str, int]
    """Findings by kind."""
    by_tier: Mapping[str, int]
    """Calls among the findings, by risk tier."""
    by_action: Mapping[str, int]
    by_tool: Mapping[str, int]
    by_file: Mapping[str, int]


def summarise(folder: Path) -> Summary:
    """Count the lines of the files of an audit.

    Raises:
        ConfigError: A file is damaged.
    """
    journal, findings = _Journal(), _Findings()
    for line in lines(folder, JOURNAL):
        journal.add(line)
    for line in lines(folder, FINDINGS):
        findings.add(line)
    figures = journal.figures
    return Summary(
        files=figures["files"],
        conversations=figures["conversations"],
        failures=figures["failures"],
        failure_reasons=_ranked(journal.reasons),
        first_failures=tuple(journal.first),
        passed_over=figures["passed_over"],
        closed_early=figures["closed_early"],
        messages=figures["messages"],
        executed=figures["executed"],
        skipped=figures["skipped"],
        failed=figures["failed"],
        unreadable=figures["unreadable"],
        findings=figures["findings"],
        suspicious=figures["suspicious"],
        held=figures["held"],
        attacks={name: journal.attacks[name] for name in get_args(Attack) if name != "none"},
        by_kind=_ranked(findings.counts["kind"]),
        by_tier=_ranked(findings.counts["tier"]),
        by_action=_ranked(findings.counts["action"]),
        by_tool=_ranked(findings.counts["tool"]),
        by_file=_ranked(findings.counts["file"]),
    )


def as_json(summary: Summary) -> dict[str, object]:
    """The summary as values for JSON."""
    return asdict(summary)


class _Journal:
    """Counts lines of the journal."""

    def __init__(self) -> None:
        self.figures: Counter[str] = Counter()
        self.attacks: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()
        self.first: list[Failure] = []

    def add(self, line: Mapping[str, Any]) -> None:
        if line["kind"] == "end":
            self.figures.update(
                files=1, passed_over=line["passed_over"], closed_early=line["closed_early"]
            )
        elif line["kind"] == "failure":
            self._fail(line, line["reason"])
        else:
            counted = "messages executed skipped failed unreadable findings held".split()
            self.figures.update({name: line[name] for name in counted})
            self.figures.update(conversations=1, suspicious=int(line["findings"] > 0))
            self.attacks[line["attack"]] += 1
            if line["error"] is not None:
                self._fail(line, line["error"])

    def _fail(self, line: Mapping[str, Any], reason: str) -> None:
        self.figures["failures"] += 1
        _count(self.reasons, _NUMBER.sub("N", reason))
        if len(self.first) < _LISTED:
            self.first.append(Failure(file=line["file"], line=line["line"], reason=reason))


class _Findings:
    """Counts findings."""

    def __init__(self) -> None:
        names = ("kind", "tier", "action", "tool", "file")
        self.counts: dict[str, Counter[str]] = {name: Counter() for name in names}

    def add(self, line: Mapping[str, Any]) -> None:
        for name, counts in self.counts.items():
            if line[name] is not None:
                _count(counts, line[name])


def _count(counts: Counter[str], name: str) -> None:
    """Count a name from a log. The number of different names is limited."""
    counts[name if name in counts or len(counts) < _NAMES else OTHERS] += 1


def _ranked(counts: Counter[str]) -> dict[str, int]:
    """Counts in descending order, then by name."""
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
