"""Heat map of the ASR for each goal of the attacker."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from textwrap import fill

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from taskshield_lab.bench.report import goal_rates
from taskshield_lab.bench.report.entries import Entry
from taskshield_lab.bench.report.goal_rates import Goal, Line
from taskshield_lab.bench.report.palette import LINES, SOFT, heat, on_heat
from taskshield_lab.bench.report.plots.canvas import drawing, figure, plain
from taskshield_lab.bench.report.safe_names import name

_NARROWEST = 18
"""Minimum width in columns, so that the heading fits."""
_LABEL_WIDTH = 52
_CELL = 0.94
"""Share of a column's width."""


def heat_map(entries: Sequence[Entry], *, title: str = "all entries") -> Figure:
    """Draw the ASR for each goal of the attacker, one line for each entry."""
    lines = goal_rates.lines(entries)
    columns = goal_rates.goals(lines)
    places = dict(zip(columns, _spaced(columns), strict=True))
    width = max((_NARROWEST, *places.values())) + 1
    with drawing():
        heading = f"Attack success rate by goal, %: {title}"
        drawn = figure(heading, width=3.6 + 0.33 * width, height=1.5 + 0.36 * len(lines))
        axes = drawn.add_subplot()
        axes.set(xlim=(-0.1, width), ylim=(len(lines), -1.9))
        axes.set_axis_off()
        _draw_head(axes, places)
        for row, line in enumerate(lines):
            label = fill(plain(line.label), _LABEL_WIDTH)
            axes.text(-0.3, row + 0.5, label, ha="right", va="center", fontsize=8)
            for goal, place in places.items():
                _draw_cell(axes, place, row, line, goal)
        below = "Hatched: AgentDojo lists no calls that reach the goal.   Empty: not run."
        drawn.supxlabel(below, fontsize=8, color=SOFT)
    return drawn


def _spaced(columns: Sequence[Goal]) -> Iterator[float]:
    """The position of each goal, with a gap between suites and space for their names."""
    place = 0.0
    for suite, group in groupby(columns, key=lambda goal: goal.suite):
        start = place
        for _ in group:
            yield place
            place += 1
        place = max(place, start + 0.3 * len(_suite(suite))) + 0.4


def _draw_head(axes: Axes, places: dict[Goal, float]) -> None:
    """Suites, and below them the goals by number."""
    for suite, group in groupby(places, key=lambda goal: goal.suite):
        own = list(group)
        left, right = places[own[0]], places[own[-1]] + 1
        axes.text(left, -1.25, _suite(suite), ha="left", va="center", fontsize=9, fontweight="bold")
        axes.plot([left, right - 1 + _CELL], [-0.85, -0.85], color=LINES, linewidth=1)
        for goal in own:
            number = plain(name(goal.injection_task)).removeprefix("injection_task_")
            axes.text(
                places[goal] + _CELL / 2,
                -0.4,
                _shortened(number, 4),
                ha="center",
                va="center",
                fontsize=8,
                color=SOFT,
            )


def _suite(suite: str) -> str:
    return _shortened(plain(name(suite)), 24)


def _draw_cell(axes: Axes, place: float, row: int, line: Line, goal: Goal) -> None:
    share = line.asr.get(goal)
    box = Rectangle((place, row + 0.04), _CELL, 0.92, edgecolor=LINES, linewidth=0.5)
    axes.add_patch(box)
    if share is None:
        box.set_facecolor("none")
        return
    box.set_facecolor(heat(share))
    hatched = goal in line.unsolved
    if hatched:
        box.set_hatch("////")
    axes.text(
        place + _CELL / 2,
        row + 0.5,
        f"{100 * share:.0f}",
        ha="center",
        va="center",
        fontsize=7.5,
        color=on_heat(share),
        bbox={"facecolor": heat(share), "edgecolor": "none", "pad": 1} if hatched else None,
    )


def _shortened(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 2]}.."
