"""The worst cases of a report: which conversations are shown, and their HTML.

Text from records passes through `visible`, `one_line` or `name` in the template and is escaped.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from taskshield_lab.bench.measure.outcomes import disturbed_runs, successful_attacks
from taskshield_lab.bench.records import BenchmarkRun, Header
from taskshield_lab.bench.report.entries import Entry
from taskshield_lab.bench.report.html.environment import environment


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseGroup:
    """The worst cases of one entry."""

    title: str
    attacks: list[BenchmarkRun]
    """Successful attacks."""
    disturbed: list[BenchmarkRun]
    """Runs with a blocked call of the user's task. Each is in the first group that has it."""


def cases(entries: Sequence[Entry], *, limit: int) -> Markup:
    """Successful attacks and disturbed runs of each guarded entry, at most `limit` of each."""
    template = environment().get_template("cases.html")
    return Markup(template.render(groups=_groups(entries), limit=limit))


def _groups(entries: Sequence[Entry]) -> list[CaseGroup]:
    seen: set[tuple[Header, str]] = set()
    groups = []
    for entry in entries:
        if not entry.guarded:
            continue
        found = disturbed_runs(entry.runs)
        disturbed = [run for run in found if (entry.header, run.id) not in seen]
        seen |= {(entry.header, run.id) for run in disturbed}
        attacks = successful_attacks(entry.runs)
        groups.append(CaseGroup(title=entry.title, attacks=attacks, disturbed=disturbed))
    return groups
