"""ASR for each goal of the attacker: the cells of the heat map. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from taskshield_lab.bench.measure.outcomes import by_injection
from taskshield_lab.bench.report.entries import Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """A goal of the attacker."""

    suite: str
    injection_task: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """The ASR of each goal in one entry."""

    label: str
    asr: Mapping[Goal, float]
    """From 0 to 1. Goals that were not run are missing."""
    unsolved: frozenset[Goal]
    """Goals that have no calls in AgentDojo."""


def lines(entries: Sequence[Entry]) -> list[Line]:
    """A line for each attacked entry."""
    return [
        Line(
            label=entry.label,
            asr={
                Goal(suite=cell.suite, injection_task=cell.injection_task): cell.asr.value
                for cell in by_injection(entry.runs)
            },
            unsolved=frozenset(
                Goal(suite=run.suite, injection_task=run.injection_task)
                for run in entry.runs
                if run.unsolved and run.injection_task is not None
            ),
        )
        for entry in entries
        if entry.result.attack is not None
    ]


def goals(lines: Sequence[Line]) -> list[Goal]:
    """All goals of some lines, suite by suite, 2 before 10."""
    there = {goal for line in lines for goal in line.asr}
    return sorted(
        there, key=lambda goal: (goal.suite, len(goal.injection_task), goal.injection_task)
    )
