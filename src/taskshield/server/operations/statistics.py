"""Sums up audit records: counts and latency, by hour, tool and risk tier. Pure functions."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import TypeVar

from taskshield.core.decisions import Action
from taskshield.core.store import Tally
from taskshield.server.sessions.snapshots import NOT_DONE

K = TypeVar("K", bound=Hashable)

_ANNOTATED: frozenset[Action] = frozenset({"annotate", "redact", "withhold"})
_HOUR = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Number of decisions by their outcome."""

    executed: int
    skipped: int
    failed: int
    blocked: int
    """Blocked or revised."""
    escalated: int
    annotated: int
    """Tool output that was annotated, redacted or withheld."""
    llm_calls: int
    llm_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """Milliseconds that checks by a judge took; null where there were none."""

    p50: float | None
    p90: float | None
    p99: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedCounts(Counts):
    """Counts for one tool or one risk tier."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HourCounts(Counts):
    """Counts for one hour."""

    hour: datetime
    """Start of the hour."""
    latency: Latency


def counts(tallies: Sequence[Tally]) -> Counts:
    """Count decisions by outcome."""
    checks = [tally.check for tally in tallies]
    actions = [tally.action for tally in tallies]
    return Counts(
        executed=checks.count("executed"),
        skipped=checks.count("skipped"),
        failed=checks.count("failed"),
        blocked=sum(action in NOT_DONE for action in actions),
        escalated=actions.count("escalate"),
        annotated=sum(action in _ANNOTATED for action in actions),
        llm_calls=sum(tally.llm_calls for tally in tallies),
        llm_tokens=sum(tally.llm_tokens for tally in tallies),
    )


def latency(tallies: Iterable[Tally]) -> Latency:
    """Percentiles of the time that checks took."""
    times = sorted(tally.elapsed_ms for tally in tallies if tally.check == "executed")

    def at(share: float) -> float | None:
        return times[round(share * (len(times) - 1))] if times else None

    return Latency(p50=at(0.5), p90=at(0.9), p99=at(0.99))


def by_name(tallies: Iterable[Tally], names: Callable[[Tally], Iterable[str]]) -> list[NamedCounts]:
    """Counts for each name; names with the most blocked, escalated or annotated decisions first.

    Args:
        tallies: The decisions.
        names: The names that a decision counts for, for example its tools.
    """
    found = [
        NamedCounts(name=name, **asdict(counts(own)))
        for name, own in _grouped(tallies, names).items()
    ]
    return sorted(found, key=lambda each: (-_not_allowed(each), -each.executed, each.name))


def by_hour(tallies: Iterable[Tally], since: datetime, until: datetime) -> list[HourCounts]:
    """Counts hour by hour, with hours that have no decision."""
    found = _grouped(tallies, lambda tally: (_hour(tally.at),))
    hours = []
    hour = _hour(since)
    while hour <= until:
        own = found.get(hour, [])
        hours.append(HourCounts(hour=hour, latency=latency(own), **asdict(counts(own))))
        hour += _HOUR
    return hours


def _hour(moment: datetime) -> datetime:
    return moment.replace(minute=0, second=0, microsecond=0)


def _not_allowed(counts: Counts) -> int:
    return counts.blocked + counts.escalated + counts.annotated


def _grouped(
    tallies: Iterable[Tally], keys: Callable[[Tally], Iterable[K]]
) -> dict[K, list[Tally]]:
    found: defaultdict[K, list[Tally]] = defaultdict(list)
    for tally in tallies:
        for key in keys(tally):
            found[key].append(tally)
    return dict(found)
