"""The report as one HTML file that needs nothing else: tables, plots and the worst cases.

It has no script and asks nothing of any other place. Pure: from entries to text.
"""

import re
from collections.abc import Iterator, Sequence
from importlib.resources import files
from itertools import chain, count, repeat

from taskshield.core.safe_text import visible
from taskshield_lab.bench.records import Header
from taskshield_lab.bench.report import paper_figures
from taskshield_lab.bench.report.entries import Entry, comparable
from taskshield_lab.bench.report.grids import Block, Column, Grid, Row
from taskshield_lab.bench.report.html import Html, joined, tag
from taskshield_lab.bench.report.palette import ON_DARK
from taskshield_lab.bench.report.paper_comparison import paper
from taskshield_lab.bench.report.plots.canvas import svg
from taskshield_lab.bench.report.plots.heat_map import heat_map
from taskshield_lab.bench.report.plots.tradeoff import tradeoff
from taskshield_lab.bench.report.safe_names import name
from taskshield_lab.bench.report.tables import NONE, cost, overview, replays, suite_results
from taskshield_lab.bench.report.worst_cases import cases

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_TITLE = "taskshield: benchmark report"
_COMMAND_LENGTH = 500

_Section = tuple[str, str, Html]
"""Anchor, title and contents."""


def page(entries: Sequence[Entry], *, commands: Sequence[str] = (), limit: int = 5) -> str:
    """The whole page.

    Args:
        entries: What to report on.
        commands: The command lines that the records and the page were made with.
        limit: How many worst cases of each kind to show for each entry.
    """
    sections = [*_sections(entries, limit)]
    contents = [tag("a", title, href=f"#{anchor}") for anchor, title, _ in sections]
    body = joined(
        tag("header", tag("h1", _TITLE), _about(entries, commands), tag("nav", *contents)),
        tag(
            "main",
            *(
                tag("section", tag("h2", title), inner, id=anchor)
                for anchor, title, inner in sections
            ),
        ),
    )
    head = joined(
        Html('<meta charset="utf-8">'),
        Html(f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'),
        Html('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        Html('<meta name="referrer" content="no-referrer">'),
        tag("title", _TITLE),
        tag("style", Html(_styles())),
    )
    html = tag("html", tag("head", head), tag("body", body), lang="en")
    return f"<!DOCTYPE html>\n{html}\n"


def _sections(entries: Sequence[Entry], limit: int) -> Iterator[_Section]:
    yield "results", "Results", joined(_table(overview(entries)), _table(suite_results(entries)))
    yield "plots", "Security against utility", _plots(entries)
    yield "goals", "Attacks by goal", _plot(svg(heat_map(entries)), "Heat map of ASR by goal")
    yield "cost", "Cost", _table(cost(entries))
    replayed = replays(entries)
    if replayed is not None:
        yield "replays", "Replays", _table(replayed)
    tables = [_table(paper(number, entries)) for number in paper_figures.TABLES]
    yield "paper", "Comparison with the paper", joined(*tables)
    yield "cases", "Worst cases", cases(entries, limit=limit)


def _about(entries: Sequence[Entry], commands: Sequence[str]) -> Html:
    """What was run, and how to run it again."""
    runs: dict[Header, set[str]] = {}
    for entry in entries:
        runs.setdefault(entry.header, set()).update(run.id for run in entry.runs)
    facts = "way defence attacks suites settings taskshield agentdojo runs".split()
    ran = Grid(
        title="What was run",
        subject="judge",
        columns=tuple(Column(title=fact) for fact in facts),
        blocks=(Block(rows=tuple(_ran(header, len(ids)) for header, ids in runs.items())),),
    )
    parts = [_table(ran)]
    if commands:
        shown = "\n".join(visible(command, _COMMAND_LENGTH) for command in commands)
        parts += [tag("p", "Made with:"), tag("pre", shown)]
    return joined(*parts)


def _ran(header: Header, runs: int) -> Row:
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


def _plots(entries: Sequence[Entry]) -> Html:
    numbers = count()
    return joined(
        *(
            _plot(
                svg(tradeoff(group, title=title, paper=True), salt=f"plot {next(numbers)}"),
                f"ASR against utility: {title}",
            )
            for title, group in comparable(entries).items()
        )
    )


def _plot(document: str, label: str) -> Html:
    """An SVG document as a part of the page, in the colours of the page."""
    drawing = document[document.index("<svg") :].replace("<svg", "<svg aria-hidden='true'", 1)
    drawing = re.sub(r'<g id="[^"]*">', "<g>", drawing)  # nothing refers to those ids
    drawing = re.sub(r'\b(width|height)="[\d.]+pt" ', "", drawing, count=2)
    drawing = re.sub(r' xmlns(:xlink)?="[^"]*"', "", drawing, count=2)
    for color in ON_DARK:
        drawing = drawing.replace(f": {color}", f": var({_variable(color)})")
    inner = tag("div", Html(drawing), class_="scroll", tabindex="0", role="img", aria_label=label)
    return tag("figure", inner, class_="plot")


def _table(grid: Grid) -> Html:
    two = _has_parts(grid)
    subject = tag("th", grid.subject, scope="col", rowspan="2" if two else "1", class_="label")
    heads = [tag("tr", subject, *map(_head, grid.columns))]
    if two:
        parts = (_parts("th", column.parts, column) for column in grid.columns)
        heads.append(tag("tr", *chain.from_iterable(parts)))
    table = tag(
        "table",
        tag("thead", *heads),
        *(_block(block, grid) for block in grid.blocks),
    )
    scroll = tag("div", table, class_="scroll", tabindex="0", role="region", aria_label=grid.title)
    notes = [tag("p", note, class_="note") for note in grid.notes]
    return tag("figure", tag("figcaption", grid.title), scroll, *notes)


def _head(column: Column) -> Html:
    width = str(len(column.parts))
    return tag("th", column.title, scope="colgroup", colspan=width, class_="first")


def _has_parts(grid: Grid) -> bool:
    return any(any(column.parts) for column in grid.columns)


def _block(block: Block, grid: Grid) -> Html:
    width = 1 + sum(len(column.parts) for column in grid.columns)
    rows = []
    if block.heading:
        heading = tag("th", block.heading, scope="rowgroup", colspan=str(width), class_="label")
        rows.append(tag("tr", heading, class_="heading"))
    return tag("tbody", *rows, *(_row(row, grid) for row in block.rows))


def _row(row: Row, grid: Grid) -> Html:
    label = tag("th", row.label, scope="row", class_="label")
    parts = map(_parts, repeat("td"), row.cells, grid.columns)
    cells = chain.from_iterable(parts)
    return tag("tr", label, *cells, class_="strong" if row.strong else "plain")


def _parts(element: str, parts: Sequence[str], column: Column) -> Iterator[Html]:
    """The cells of a column; a gap goes before the first, and what has no name stands back."""
    for number, (part, named) in enumerate(zip(parts, column.parts, strict=True)):
        kind = "first" if number == 0 else "next" if named else "next soft"
        yield tag(element, part, class_=kind)


def _styles() -> str:
    light = "".join(f"{_variable(color)}:{color};" for color in ON_DARK)
    dark = "".join(f"{_variable(color)}:{other};" for color, other in ON_DARK.items())
    own = files("taskshield_lab.bench.report").joinpath("page.css").read_text(encoding="utf-8")
    return f":root{{{light}}}@media (prefers-color-scheme:dark){{:root{{{dark}}}}}\n{own}"


def _variable(color: str) -> str:
    return f"--plot-{color.removeprefix('#')}"
