"""The plots: what is in them, and that the same figures give the same files."""

import subprocess
import sys
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from matplotlib.colors import to_hex, to_rgba
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from taskshield_lab.bench.records import BenchmarkRun
from taskshield_lab.bench.report import paper_figures
from taskshield_lab.bench.report.entries import Entry, entries
from taskshield_lab.bench.report.palette import PAPER, heat
from taskshield_lab.bench.report.plots.canvas import save, svg
from taskshield_lab.bench.report.plots.heat_map import heat_map
from taskshield_lab.bench.report.plots.tradeoff import tradeoff
from tests.cli.hostile import PAYLOADS, hidden
from tests.lab.bench import synthetic
from tests.lab.bench.synthetic import header, run


def three() -> list[Entry]:
    return entries(
        [
            (header(judge="none"), _few(hijacked=True)),
            (header(judge="embedded"), _few(hijacked=False)),
            (header(judge="openai"), _few(hijacked=False)),
        ]
    )


def _few(*, hijacked: bool) -> list[BenchmarkRun]:
    return [
        each
        for suite in ("banking", "slack")
        for each in (
            run(suite=suite, utility=True),
            run(suite=suite, goal=0, hijacked=hijacked),
            run(suite=suite, goal=1, utility=True, unsolved=True),
        )
    ]


def test_each_entry_and_suite_is_in_the_trade_off() -> None:
    figure = tradeoff(three(), title="a title")
    text = svg(figure)
    for words in ("a title", "lower right", "no shield", "embedded judge", "openai judge"):
        assert words in text
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["overall", "banking", "slack"]


def test_points_lie_where_the_figures_say() -> None:
    figure = tradeoff(three(), title="t")
    drawn = [
        points[0]
        for line in figure.axes[0].lines
        if line.get_linestyle() == "None" and len(points := _points(line)) == 1
    ]
    assert drawn.count([100, 0]) == 3  # the clean points
    assert [50, 50] in drawn  # undefended: one of two hijacked
    assert drawn.count([50, 0]) >= 2


def test_the_front_is_ringed_and_drawn_as_stairs() -> None:
    figure = tradeoff(three(), title="t")
    stairs, ring = figure.axes[0].lines[:2]
    assert _points(ring) == [[50, 0]]
    assert _points(stairs)[1] == [50, 0]


def _points(line: Line2D) -> list[list[float]]:
    points: list[list[float]] = np.asarray(line.get_xydata()).tolist()
    return points


def test_published_points_are_there_where_asked_for() -> None:
    replayed = entries([(header(way="replay"), [run(goal=1, agent=paper_figures.GPT_4O)])])
    assert "paper: Task Shield" in svg(tradeoff(replayed, title="t", paper=True))
    assert "paper:" not in svg(tradeoff(replayed, title="t"))


def test_the_heat_map_has_a_cell_for_each_goal() -> None:
    lines = entries([(header(), [run(goal=0, hijacked=True), run(goal=1), run(goal=2)])])
    figure = heat_map(lines)
    cells = _cells(figure)
    assert [to_hex(cell.get_facecolor()) for cell in cells] == [heat(1), PAPER, PAPER]
    assert [text.get_text() for text in figure.axes[0].texts].count("100") == 1


def test_unsolved_goals_are_hatched_and_missing_ones_empty() -> None:
    lines = entries(
        [(header(judge="a"), [run(goal=0, unsolved=True)]), (header(judge="b"), [run(goal=1)])]
    )
    cells = _cells(heat_map(lines))
    assert [bool(cell.get_hatch()) for cell in cells] == [True, False, False, False]
    assert [to_rgba(cell.get_facecolor())[3] for cell in cells] == [1, 0, 0, 1]


def _cells(figure: Figure) -> list[Rectangle]:
    return [patch for patch in figure.axes[0].patches if isinstance(patch, Rectangle)]


def test_the_same_figures_give_the_same_files(tmp_path: Path) -> None:
    for name in ("one", "two"):
        save(tradeoff(three(), title="t"), tmp_path / f"{name}.v1")
    files = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert sorted(files) == ["one.v1.png", "one.v1.svg", "two.v1.png", "two.v1.svg"]
    assert files["one.v1.png"] == files["two.v1.png"]
    assert files["one.v1.svg"] == files["two.v1.svg"]
    assert files["one.v1.png"].startswith(b"\x89PNG")
    assert b"<dc:date>" not in files["one.v1.svg"] and b"<image" not in files["one.v1.svg"]


def test_figures_of_one_page_have_ids_of_their_own() -> None:
    figure = tradeoff(three(), title="t")
    assert svg(figure, salt="a") != svg(figure, salt="b")


def test_no_setting_of_matplotlib_stays_changed() -> None:
    before = dict(matplotlib.rcParams)
    svg(heat_map(three()))
    assert dict(matplotlib.rcParams) == before


def test_plots_need_no_screen() -> None:
    code = (
        "import sys, taskshield_lab.bench.report.html.page; "
        "print([m for m in ('matplotlib.pyplot', 'agentdojo', 'torch') if m in sys.modules])"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert loaded.stdout.strip() == b"[]"


@pytest.mark.parametrize(
    "runs",
    [
        [],
        [run()],
        [run(goal=0)],
        [run(utility=True), run(goal=0, utility=True, hijacked=True)],
        [run(goal=0, error="broken")],
        [run(suite=f"suite {number}", goal=0) for number in range(7)],
    ],
    ids=["none", "clean only", "attacked only", "all hit", "error only", "seven suites"],
)
def test_any_runs_can_be_drawn(runs: list[BenchmarkRun]) -> None:
    lines = entries([(header(), runs)])
    assert svg(tradeoff(lines, title="t")).startswith("<?xml")
    assert svg(heat_map(lines)).startswith("<?xml")


def test_many_entries_in_one_place_can_all_be_seen() -> None:
    lines = entries(
        [(header(judge=f"judge {number}"), _few(hijacked=False)) for number in range(9)]
    )
    figure = tradeoff(lines, title="t")
    sizes = [
        line.get_markersize() for line in figure.axes[0].lines if line.get_marker() in set("os^Dvp")
    ]
    assert len(set(sizes[1:])) == 9  # after the ring


def test_hostile_names_stay_text() -> None:
    payload = "".join(PAYLOADS.values()) + "$\\frac{1}{0}$</text><script>alert(1)</script>\u4e2d"
    for name in (payload, payload[-60:], payload[:60]):
        runs = [synthetic.poisoned(each, name) for each in (run(), run(goal=1))]
        lines = entries([(synthetic.poisoned(header(), name), runs)])
        for text in (svg(tradeoff(lines, title=lines[0].title)), svg(heat_map(lines))):
            assert hidden(text) == []
            assert "<script" not in text
