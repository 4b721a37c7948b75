"""The report as one HTML file: tables, plots and the worst cases. Pure.

The file has no script and loads nothing from elsewhere.
"""

import re
from collections.abc import Iterator, Sequence

from markupsafe import Markup

from taskshield_lab.bench.records import Header
from taskshield_lab.bench.report import paper_figures
from taskshield_lab.bench.report.entries import Entry, comparable
from taskshield_lab.bench.report.grids import Block, Column, Grid, Row
from taskshield_lab.bench.report.html.environment import environment
from taskshield_lab.bench.report.html.worst_cases import cases
from taskshield_lab.bench.report.palette import ON_DARK
from taskshield_lab.bench.report.paper_comparison import paper
from taskshield_lab.bench.report.plots.canvas import svg
from taskshield_lab.bench.report.plots.heat_map import heat_map
from taskshield_lab.bench.report.plots.tradeoff import tradeoff
from taskshield_lab.bench.report.safe_names import name
from taskshield_lab.bench.report.tables import NONE, cost, overview, replays, suite_results

_TITLE = "taskshield: benchmark report"


def page(entries: Sequence[Entry], *, commands: Sequence[str] = (), limit: int = 5) -> str:
    """The whole page.

    Args:
        entries: What to report on.
        commands: The command lines that made the records and the page.
        limit: How many worst cases of each kind to show for each entry.
    """
    return (
        environment()
        .get_template("page.html")
        .render(
            title=_TITLE,
            light_colors={_variable(color): color for color in ON_DARK},
            dark_colors={_variable(color): other for color, other in ON_DARK.items()},
            what_was_run=_what_was_run(entries),
            commands=commands,
            results=[overview(entries), suite_results(entries)],
            tradeoffs=[*_tradeoffs(entries)],
            heat_map=_inline(svg(heat_map(entries))),
            cost=cost(entries),
            replays=replays(entries),
            paper=[paper(number, entries) for number in paper_figures.TABLES],
            cases=cases(entries, limit=limit),
        )
    )


def _what_was_run(entries: Sequence[Entry]) -> Grid:
    runs: dict[Header, set[str]] = {}
    for entry in entries:
        runs.setdefault(entry.header, set()).update(run.id for run in entry.runs)
    facts = "way defence attacks suites settings taskshield agentdojo runs".split()
    return Grid(
        title="What was run",
        subject="judge",
        columns=tuple(Column(title=fact) for fact in facts),
        blocks=(Block(rows=tuple(_header_row(header, len(ids)) for header, ids in runs.items())),),
    )


def _header_row(header: Header, runs: int) -> Row:
    facts = (
        header.way,
        name(header.defence),
        ", ".join(map(name, header.attacks)),
        name(header.version),
        name(header.settings),
        name(header.taskshield),
        name(header.agentdojo),
        f"{runs:,}",
    )
    return Row(label=name(header.judge), cells=tuple((fact or NONE,) for fact in facts))


def _tradeoffs(entries: Sequence[Entry]) -> Iterator[tuple[str, Markup]]:
    """A title and a drawing for each group of comparable entries."""
    for number, (title, group) in enumerate(comparable(entries).items()):
        drawing = svg(tradeoff(group, title=title, paper=True), salt=f"plot {number}")
        yield title, _inline(drawing)


def _inline(document: str) -> Markup:
    """An SVG document of matplotlib as a part of the page, in the colours of the page."""
    drawing = document[document.index("<svg") :].replace("<svg", "<svg aria-hidden='true'", 1)
    drawing = re.sub(r'<g id="[^"]*">', "<g>", drawing)  # nothing refers to those ids
    drawing = re.sub(r'\b(width|height)="[\d.]+pt" ', "", drawing, count=2)
    drawing = re.sub(r' xmlns(:xlink)?="[^"]*"', "", drawing, count=2)
    for color in ON_DARK:
        drawing = drawing.replace(f": {color}", f": var({_variable(color)})")
    return Markup(drawing)


def _variable(color: str) -> str:
    return f"--plot-{color.removeprefix('#')}"
