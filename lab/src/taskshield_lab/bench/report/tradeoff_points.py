"""Security against utility: the points of the plot and their Pareto front. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from taskshield_lab.bench.report import paper_figures
from taskshield_lab.bench.report.entries import Entry

OVERALL = "overall"


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """Utility and ASR of a defence, in per cent."""

    utility: float
    asr: float

    def beats(self, other: "Point") -> bool:
        """Whether it is at least as good in both, and better in one."""
        as_good = self.utility >= other.utility and self.asr <= other.asr
        return as_good and self != other


@dataclass(frozen=True, slots=True, kw_only=True)
class Track:
    """One defence: its utility without an attack, and utility and ASR under attack."""

    label: str
    clean: Mapping[str, float]
    """Utility in each suite and overall, in per cent."""
    attacked: Mapping[str, Point]
    ours: bool = True


def front(points: Iterable[Point]) -> list[Point]:
    """The Pareto front: points that no other point beats, the safest first."""
    there = set(points)
    best = (point for point in there if not any(other.beats(point) for other in there))
    return sorted(best, key=lambda point: point.utility)


def measured(entries: Sequence[Entry]) -> list[Track]:
    """The tracks of our entries."""
    tracks = []
    for entry in entries:
        figures = {**entry.result.suites, OVERALL: entry.result.overall}
        tracks.append(
            Track(
                label=entry.label,
                clean={
                    suite: 100 * each.clean_utility.value
                    for suite, each in figures.items()
                    if each.clean_utility is not None
                },
                attacked={
                    suite: Point(utility=100 * each.utility.value, asr=100 * each.asr.value)
                    for suite, each in figures.items()
                    if each.utility is not None and each.asr is not None
                },
            )
        )
    return tracks


def of_paper(entries: Sequence[Entry]) -> list[Track]:
    """The published tracks for the models and attacks of our entries."""
    measured_pairs = {
        (entry.result.agent, entry.result.attack)
        for entry in entries
        if entry.header.version == paper_figures.VERSION
    }
    rows = [*paper_figures.rows(2), *paper_figures.rows(3)]
    there = {(row.model, row.attack, row.defence) for row in rows}
    rows += [
        row for row in paper_figures.rows(1) if (row.model, row.attack, row.defence) not in there
    ]
    tracks = []
    for row in rows:
        if not any(row.model in agent and row.attack == attack for agent, attack in measured_pairs):
            continue
        figures = {**row.suites, OVERALL: row.overall}
        tracks.append(
            Track(
                label=f"paper: {row.defence}, {row.model}",
                clean={suite: each.cu for suite, each in figures.items() if each.cu is not None},
                attacked={
                    suite: Point(utility=each.u, asr=each.asr) for suite, each in figures.items()
                },
                ours=False,
            )
        )
    return tracks
