"""Scatter plot of ASR against utility for each defence, with and without an attack."""

from collections.abc import Iterator, Sequence
from itertools import count
from textwrap import fill

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from taskshield_lab.bench.report.entries import Entry
from taskshield_lab.bench.report.palette import INK, PAPER, SERIES, SOFT
from taskshield_lab.bench.report.plots.canvas import drawing, figure, plain
from taskshield_lab.bench.report.safe_names import name
from taskshield_lab.bench.report.tradeoff_points import (
    OVERALL,
    Point,
    Track,
    front,
    measured,
    of_paper,
)

_SHAPES = "os^Dvp"
_SHAPES_OF_PAPER = "o^sDvph<>8X*"
_TICKS = (0, 1, 5, 10, 25, 50, 100)
_LABEL_WIDTH = 62
_MARKER, _SMALLEST, _BIGGEST = 9.0, 4.0, 20.0
"""Sizes of markers: alone, and of the last and the first of many in one place."""
_DASHES = (0, (4, 3))

_Style = tuple[str, str]
"""Colour and shape."""


def tradeoff(entries: Sequence[Entry], *, title: str, paper: bool = False) -> Figure:
    """Draw ASR against utility, overall and for each suite, with arrows from clean to attacked.

    Args:
        entries: Our entries, best those of one group of `entries.comparable`.
        title: Their common title.
        paper: Whether to show the published points of the same models and attack.
    """
    tracks = [*measured(entries), *(of_paper(entries) if paper else ())]
    suites = sorted({suite for entry in entries for suite in entry.result.suites})
    with drawing():
        labels = [fill(plain(track.label), _LABEL_WIDTH) for track in tracks]
        lines = sum(label.count("\n") + 1 for label in labels) + 2
        heading = f"Security against utility, best in the lower right: {title}"
        drawn = figure(heading, width=11, height=5.6 + 0.11 * lines)
        for axes, panel in _panels(drawn, suites):
            _draw(axes, panel, tracks)
        _add_legend(drawn, tracks, labels)
    return drawn


def _panels(drawn: Figure, suites: list[str]) -> Iterator[tuple[Axes, str]]:
    """A large panel for all suites and, to its right, a small one for each suite."""
    grid = drawn.add_gridspec(max(1, (len(suites) + 1) // 2), 4 if suites else 2)
    whole = drawn.add_subplot(grid[:, :2])
    whole.set_xlabel("utility, %")
    whole.set_ylabel("attack success rate, % (square-root scale)")
    yield whole, OVERALL
    for number, suite in enumerate(suites):
        place = grid[number // 2, 2 + number % 2]
        yield drawn.add_subplot(place, sharex=whole, sharey=whole), suite


def _draw(axes: Axes, panel: str, tracks: Sequence[Track]) -> None:
    axes.set_title(plain(name(panel)), loc="left")
    axes.grid(visible=True)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_yscale("function", functions=(_root, _square))
    lowest, highest = _reach(tracks)
    axes.set(xlim=(lowest - 2, 103), ylim=(-0.16, highest * 1.08))
    axes.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    axes.set_yticks([tick for tick in _TICKS if tick <= highest])
    points = [track.attacked[panel] for track in tracks if panel in track.attacked]
    _draw_front(axes, front(points))
    sizes = _sizes(points)
    for track, style in zip(tracks, _styles(tracks), strict=True):
        _draw_arrow(axes, panel, track, style)
        if panel in track.attacked:
            _draw_point(axes, track.attacked[panel], track, style, next(sizes))


def _draw_front(axes: Axes, best: list[Point]) -> None:
    """The Pareto front as a step line."""
    if not best:
        return
    left, top = axes.get_xlim()[0], axes.get_ylim()[1]
    x, y = [left], [best[0].asr]
    for point, following in zip(best, (*best[1:], None), strict=True):
        x += [point.utility, point.utility]
        y += [point.asr, top if following is None else following.asr]
    axes.plot(x, y, color=INK, linewidth=0.9, linestyle=_DASHES, zorder=1.5)
    axes.plot(
        [point.utility for point in best],
        [point.asr for point in best],
        "o",
        color=INK,
        markersize=14,
        markerfacecolor="none",
        markeredgewidth=0.8,
        zorder=1.6,
        clip_on=False,
    )


def _draw_arrow(axes: Axes, panel: str, track: Track, style: _Style) -> None:
    """An arrow from the result without an attack to the result under attack."""
    clean, attacked = track.clean.get(panel), track.attacked.get(panel)
    if clean is None:
        return
    axes.plot(clean, 0, ".", color=style[0], markersize=5, zorder=2.5, clip_on=False)
    if attacked is not None:
        arrow = {
            "arrowstyle": "-|>",
            "color": style[0],
            "linewidth": 1.4 if track.ours else 0.7,
            "alpha": 1 if track.ours else 0.6,
            "shrinkA": 0,
            "shrinkB": 4,
        }
        axes.annotate("", (attacked.utility, attacked.asr), (clean, 0), arrowprops=arrow, zorder=2)


def _draw_point(axes: Axes, point: Point, track: Track, style: _Style, size: float) -> None:
    color, shape = style
    axes.plot(
        point.utility,
        point.asr,
        shape,
        markersize=size,
        markerfacecolor=color if track.ours else PAPER,
        markeredgecolor=PAPER if track.ours else color,
        markeredgewidth=0.7 if track.ours else 1.1,
        zorder=4 - size / _BIGGEST,
        clip_on=False,
    )


def _sizes(points: Sequence[Point]) -> Iterator[float]:
    """Marker sizes. Of points in one place the later are smaller, so that all are visible."""
    for number, point in enumerate(points):
        there = sum(_are_close(point, other) for other in points)
        earlier = sum(_are_close(point, other) for other in points[:number])
        biggest = min(_BIGGEST, _MARKER + 1.5 * (there - 1))
        yield biggest - (biggest - _SMALLEST) * earlier / max(1, there - 1)


def _add_legend(drawn: Figure, tracks: Sequence[Track], labels: Sequence[str]) -> None:
    handles = [
        Line2D(
            [],
            [],
            color=color,
            marker=shape,
            linestyle="none",
            markerfacecolor=color if track.ours else PAPER,
            label=label,
        )
        for track, label, (color, shape) in zip(tracks, labels, _styles(tracks), strict=True)
    ]
    handles += [
        Line2D([], [], color=SOFT, marker=".", label="tail of an arrow: without an attack"),
        Line2D([], [], color=INK, linestyle=_DASHES, label="Pareto front under attack"),
    ]
    drawn.legend(handles=handles, loc="outside lower left", ncols=2, frameon=False, fontsize=8.5)


def _styles(tracks: Sequence[Track]) -> list[_Style]:
    """Our tracks in colours, those of the paper in grey."""
    ours, theirs = count(), count()
    return [
        _style(SERIES, _SHAPES, next(ours))
        if track.ours
        else _style((SOFT,), _SHAPES_OF_PAPER, next(theirs))
        for track in tracks
    ]


def _style(colors: Sequence[str], shapes: str, number: int) -> _Style:
    return colors[number % len(colors)], shapes[number % len(shapes)]


def _reach(tracks: Sequence[Track]) -> tuple[float, float]:
    """The lowest utility and the highest ASR of all panels."""
    points = [point for track in tracks for point in track.attacked.values()]
    utilities = [value for track in tracks for value in track.clean.values()]
    lowest = min((*utilities, *(point.utility for point in points)), default=0.0)
    highest = max((point.asr for point in points), default=0.0)
    return min(80, lowest // 10 * 10), next(tick for tick in _TICKS[3:] if tick >= highest)


def _are_close(point: Point, other: Point) -> bool:
    return abs(point.utility - other.utility) < 2 and abs(_root_of(point) - _root_of(other)) < 0.2


def _root_of(point: Point) -> float:
    return float(point.asr**0.5)


def _root(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """A square-root scale, because defences differ near 0. Keeps the sign, for the lower margin."""
    return np.sign(values) * np.sqrt(np.abs(values))


def _square(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.sign(values) * np.square(values)
