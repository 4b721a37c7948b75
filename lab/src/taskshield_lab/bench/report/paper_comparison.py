"""The paper's tables, with our entries beside the paper's rows."""

from collections.abc import Iterator, Sequence

from taskshield_lab.bench.measure.outcomes import Figures
from taskshield_lab.bench.measure.rates import Rate
from taskshield_lab.bench.report import paper_figures
from taskshield_lab.bench.report.entries import Entry
from taskshield_lab.bench.report.grids import Block, Column, Grid, Row
from taskshield_lab.bench.report.safe_names import name
from taskshield_lab.bench.report.tables import NONE

_MODELS = {
    paper_figures.GPT_4O: "GPT-4o",
    paper_figures.GPT_4O_MINI: "GPT-4o-mini",
    paper_figures.GPT_3_5: "GPT-3.5-turbo",
}
_TITLES = {
    1: "three attacks on GPT-4o",
    2: "all defences, attack important_instructions",
    3: "all defences on GPT-3.5-turbo, attack important_instructions",
}
_OVERALL = "overall"


def paper(number: int, entries: Sequence[Entry]) -> Grid:
    """One of the paper's tables, with our entries that can be compared to it.

    An entry of a real model is shown with the figures of the same model. An entry of the worst-case
    agent, which is not a model, is shown with all of them.

    Args:
        number: 1, 2 or 3.
        entries: All our entries.
    """
    paper_rows = paper_figures.rows(number)
    parts = (
        ("CU", "U", "ASR")
        if any(row.overall.cu is not None for row in paper_rows)
        else ("U", "ASR")
    )
    return Grid(
        title=f"Table {number} of the paper: {_TITLES[number]} (per cent)",
        subject="defence",
        columns=tuple(
            Column(title=title, parts=parts) for title in (*paper_figures.SUITES, _OVERALL)
        ),
        blocks=tuple(_blocks(paper_rows, entries, width=len(parts))),
        notes=_notes(
            [
                entry
                for entry in entries
                if any(_is_comparable(entry, row.model, row.attack) for row in paper_rows)
            ]
        ),
    )


def _blocks(
    paper_rows: Sequence[paper_figures.Row], entries: Sequence[Entry], *, width: int
) -> Iterator[Block]:
    """A block for each model and attack of the table."""
    for model, attack in dict.fromkeys((row.model, row.attack) for row in paper_rows):
        rows = [
            _their_row(row, width)
            for row in paper_rows
            if (row.model, row.attack) == (model, attack)
        ]
        ours = [_our_row(entry, width) for entry in entries if _is_comparable(entry, model, attack)]
        yield Block(heading=f"{_MODELS[model]}, {attack}", rows=(*rows, *ours))


def _is_comparable(entry: Entry, model: str, attack: str) -> bool:
    of_model = entry.header.way == "worst-case" or model in entry.result.agent
    return of_model and entry.result.attack == attack


def _their_row(row: paper_figures.Row, width: int) -> Row:
    cells = [_published(row.suites[suite], width) for suite in paper_figures.SUITES]
    return Row(label=f"paper: {row.defence}", cells=(*cells, _published(row.overall, width)))


def _our_row(entry: Entry, width: int) -> Row:
    suites = entry.result.suites
    cells = [
        _measured(suites[suite], width) if suite in suites else (NONE,) * width
        for suite in paper_figures.SUITES
    ]
    overall = _measured(entry.result.overall, width)
    return Row(label=_label(entry), cells=(*cells, overall), strong=entry.guarded)


def _label(entry: Entry) -> str:
    """The origin of an entry, and how its benchmark differs from the paper's."""
    label = f"ours: {entry.origin}"
    pairs, all_pairs = entry.result.overall.attacked_runs, sum(paper_figures.PAIRS.values())
    if entry.header.version != paper_figures.VERSION:
        return f"{label}, suites {name(entry.header.version)}, {pairs} pairs"
    return label if pairs == all_pairs else f"{label}, {pairs} of {all_pairs} pairs"


def _published(figures: paper_figures.Figures, width: int) -> tuple[str, ...]:
    cells = (figures.cu, figures.u, figures.asr)[-width:]
    return tuple(NONE if cell is None else _two_decimals(cell) for cell in cells)


def _measured(figures: Figures, width: int) -> tuple[str, ...]:
    rates: tuple[Rate | None, ...] = (figures.clean_utility, figures.utility, figures.asr)
    return tuple(
        NONE if rate is None else _two_decimals(100 * rate.value) for rate in rates[-width:]
    )


def _two_decimals(per_cent: float) -> str:
    """Two decimals, as in the paper, in at most five characters."""
    return "100.0" if per_cent == 100 else f"{per_cent:.2f}"


def _notes(entries: Sequence[Entry]) -> tuple[str, ...]:
    notes = [
        f"paper: as published in {paper_figures.SOURCE}; its shield uses the agent's own model."
    ]
    ways = {entry.header.way for entry in entries}
    if "worst-case" in ways:
        notes.append(
            "worst-case: an agent that does what the user and the attacker want and ignores "
            "feedback. It is not a model, so it is shown with each model."
        )
    if "replay" in ways:
        notes.append(
            "replay: recorded calls of that model. Calls that the shield blocks are not executed."
        )
    if "live" in ways:
        notes.append("live: that model itself, with feedback rounds.")
    if any(entry.result.overall.errors for entry in entries):
        notes.append(
            "Our figures leave out runs that ended with an error. The published ones include them."
        )
    return tuple(notes)
