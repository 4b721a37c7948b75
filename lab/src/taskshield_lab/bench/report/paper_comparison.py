"""The paper's tables with our lines beside theirs."""

from collections.abc import Iterator, Sequence

from taskshield_lab.bench.measure.outcomes import Figures
from taskshield_lab.bench.measure.rates import Rate
from taskshield_lab.bench.report import paper_figures as published
from taskshield_lab.bench.report.entries import Entry
from taskshield_lab.bench.report.grids import Block, Column, Grid, Row
from taskshield_lab.bench.report.safe_names import name
from taskshield_lab.bench.report.tables import NONE

_MODELS = {
    published.GPT_4O: "GPT-4o",
    published.GPT_4O_MINI: "GPT-4o-mini",
    published.GPT_3_5: "GPT-3.5-turbo",
}
_TITLES = {
    1: "three attacks on GPT-4o",
    2: "all defences, attack important_instructions",
    3: "all defences on GPT-3.5-turbo, attack important_instructions",
}
_OVERALL = "overall"


def paper(number: int, entries: Sequence[Entry]) -> Grid:
    """One of the paper's tables, with those of our lines that it can be compared to.

    A line of a real model stands beside the figures of the same model; one of the worst-case agent,
    which is no model at all, beside all of them.

    Args:
        number: 1, 2 or 3.
        entries: All our lines.
    """
    theirs = published.rows(number)
    parts = (
        ("CU", "U", "ASR") if any(row.overall.cu is not None for row in theirs) else ("U", "ASR")
    )
    return Grid(
        title=f"Table {number} of the paper: {_TITLES[number]} (per cent)",
        subject="who",
        columns=tuple(Column(title=title, parts=parts) for title in (*published.SUITES, _OVERALL)),
        blocks=tuple(_blocks(theirs, entries, width=len(parts))),
        notes=_notes(
            [
                entry
                for entry in entries
                if any(_is_beside(entry, row.model, row.attack) for row in theirs)
            ]
        ),
    )


def _blocks(
    theirs: Sequence[published.Row], entries: Sequence[Entry], *, width: int
) -> Iterator[Block]:
    """A block for each model and attack of the table."""
    for model, attack in dict.fromkeys((row.model, row.attack) for row in theirs):
        rows = [
            _their_row(row, width) for row in theirs if (row.model, row.attack) == (model, attack)
        ]
        ours = [_our_row(entry, width) for entry in entries if _is_beside(entry, model, attack)]
        yield Block(heading=f"{_MODELS[model]}, {attack}", rows=(*rows, *ours))


def _is_beside(entry: Entry, model: str, attack: str) -> bool:
    of_model = entry.header.way == "worst-case" or model in entry.result.agent
    return of_model and entry.result.attack == attack


def _their_row(row: published.Row, width: int) -> Row:
    cells = [_published(row.suites[suite], width) for suite in published.SUITES]
    return Row(label=f"paper: {row.defence}", cells=(*cells, _published(row.overall, width)))


def _our_row(entry: Entry, width: int) -> Row:
    suites = entry.result.suites
    cells = [
        _measured(suites[suite], width) if suite in suites else (NONE,) * width
        for suite in published.SUITES
    ]
    overall = _measured(entry.result.overall, width)
    return Row(label=_label(entry), cells=(*cells, overall), strong=entry.guarded)


def _label(entry: Entry) -> str:
    """Who it was, and in what the exam was not the paper's."""
    label = f"ours: {entry.origin}"
    pairs, all_pairs = entry.result.overall.attacked_runs, sum(published.PAIRS.values())
    if entry.header.version != published.VERSION:
        return f"{label}, suites {name(entry.header.version)}, {pairs} pairs"
    return label if pairs == all_pairs else f"{label}, {pairs} of {all_pairs} pairs"


def _published(figures: published.Figures, width: int) -> tuple[str, ...]:
    cells = (figures.cu, figures.u, figures.asr)[-width:]
    return tuple(NONE if cell is None else _two_decimals(cell) for cell in cells)


def _measured(figures: Figures, width: int) -> tuple[str, ...]:
    rates: tuple[Rate | None, ...] = (figures.clean_utility, figures.utility, figures.asr)
    return tuple(
        NONE if rate is None else _two_decimals(100 * rate.value) for rate in rates[-width:]
    )


def _two_decimals(per_cent: float) -> str:
    """As the paper prints them, in five characters."""
    return "100.0" if per_cent == 100 else f"{per_cent:.2f}"


def _notes(entries: Sequence[Entry]) -> tuple[str, ...]:
    said = [f"paper: as published, {published.SOURCE}; the shield there is the agent's own model."]
    ways = {entry.header.way for entry in entries}
    if "worst-case" in ways:
        said.append(
            "worst-case: an agent that does all that the user and the attacker want and ignores "
            "feedback; no model, so it stands beside each."
        )
    if "replay" in ways:
        said.append("replay: recorded calls of that model; what the shield blocks is not executed.")
    if "live" in ways:
        said.append("live: that model itself, feedback rounds included.")
    if any(entry.result.overall.errors for entry in entries):
        said.append("Runs that ended in an error are left out of ours, not of the published ones.")
    return tuple(said)
