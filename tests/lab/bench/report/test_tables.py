"""The tables show the figures that `measure` gives, fit a terminal and escape names."""

import io
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from taskshield.core.levels import Level
from taskshield.core.usage import Usage
from taskshield_lab.bench.measure.outcomes import figures
from taskshield_lab.bench.records import BenchmarkRun, RecordedStep, Way
from taskshield_lab.bench.report import paper_comparison, paper_figures, tables
from taskshield_lab.bench.report.entries import Entry, entries
from taskshield_lab.bench.report.grids import Grid, Row
from tests.cli.hostile import PAYLOADS, hidden
from tests.lab.bench import synthetic
from tests.lab.bench.synthetic import header, run

GPT = paper_figures.GPT_4O
ATTACKS = ("important_instructions", "injecagent", "ignore_previous")


def everything() -> list[Entry]:
    replayed = synthetic.benchmark_runs(agent=GPT, attacks=ATTACKS, recorded=True)
    return entries(
        [
            (header(judge="none"), synthetic.benchmark_runs(clean=1, useful=1, hijacked=0.95)),
            (header(settings="0123456789ab"), synthetic.benchmark_runs(hijacked=0.05)),
            (header(way="replay", judge="none"), replayed),
            (
                header(way="live", judge="openai"),
                synthetic.benchmark_runs(agent=paper_figures.GPT_3_5),
            ),
        ]
    )


def grids(lines: Sequence[Entry]) -> list[Grid]:
    replays = tables.replays(lines)
    return [
        tables.overview(lines),
        tables.suite_results(lines),
        tables.cost(lines),
        *([] if replays is None else [replays]),
        *(paper_comparison.paper(number, lines) for number in (1, 2, 3)),
    ]


def printed(lines: Sequence[Entry], width: int = 120) -> str:
    console = Console(file=io.StringIO(), width=width)
    with console.capture() as captured:
        for grid in grids(lines):
            console.print(grid)
    return captured.get()


def one(runs: Sequence[BenchmarkRun], **about: Any) -> list[Entry]:
    return entries([(header(**about), runs)])


def row(grid: Grid, label: str, block: int = 0) -> Row:
    (found,) = [row for row in grid.blocks[block].rows if row.label == label]
    return found


def test_shares_and_intervals_are_shown_by_suite_and_overall() -> None:
    lines = one(synthetic.benchmark_runs())
    exam = tables.suite_results(lines)
    result = lines[0].result
    for label, each in (*result.suites.items(), ("overall", result.overall)):
        cells = row(exam, label).cells
        assert cells[0] == (str(each.clean_runs), str(each.attacked_runs))
        for cell, rate in zip(
            cells[1:],
            (each.clean_utility, each.utility, each.asr, each.asr_by_calls, each.asr_solved),
            strict=True,
        ):
            assert rate is not None
            assert cell == (
                f"{100 * rate.value:.1f}",
                f"[{100 * rate.low:.1f}, {100 * rate.high:.1f}]",
            )
    assert row(tables.overview(lines), "embedded judge").cells == row(exam, "overall").cells[:4]


def test_narrower_rates_are_shown_only_if_they_differ() -> None:
    plain = tables.suite_results(one([run(), run(goal=1, hijacked=True)]))
    assert [column.title for column in plain.columns] == ["runs", "CU", "U", "ASR"]
    by_words = tables.suite_results(one([run(goal=1, hijacked=True, by_words=True)]))
    assert [column.title for column in by_words.columns][4:] == ["ASR by calls"]
    unsolved = tables.suite_results(one([run(goal=1, unsolved=True), run(goal=2, hijacked=True)]))
    assert [column.title for column in unsolved.columns][4:] == ["ASR solved goals"]


def test_what_the_figures_leave_out_is_said_in_words() -> None:
    runs = [
        run(goal=0, unsolved=True),
        run(goal=1, hijacked=True, by_words=True),
        run(goal=2, error="broken"),
        run(goal=3),
    ]
    assert tables.suite_results(one(runs)).notes[1:] == (
        "embedded judge: 1 of 3 attacks have a goal for which AgentDojo lists no calls; "
        "1 attack reached the goal by text alone; "
        "left out because of an error: 1 run.",
    )


def test_shares_keep_to_four_characters() -> None:
    assert [tables.percent(share) for share in (0, 0.0415, 0.5, 0.9959, 1)] == [
        "0.0",
        "4.2",
        "50.0",
        "99.6",
        "100",
    ]
    assert tables.with_interval(None) == ("-", "")


def test_the_cost_table_has_all_costs() -> None:
    lines = one(synthetic.benchmark_runs())
    cost = tables.cost(lines)
    total = lines[0].result.overall
    conversations = total.clean_runs + total.attacked_runs
    assert row(cost, "embedded judge").cells == (
        tables.with_interval(total.false_blocks),
        tables.with_interval(total.false_redactions),
        tables.with_interval(total.disturbed),
        tables.with_interval(total.missed_calls),
        (f"{total.checks:.1f}",),
        ("0",),
        ("14.0", "14.0"),
        (tables.short(total.usage.calls), f"{total.usage.calls / conversations:.1f}"),
        (tables.short(total.usage.tokens), tables.short(total.usage.tokens / conversations)),
    )


def test_calls_that_a_cascade_saved_have_a_column_where_there_are_any() -> None:
    step = RecordedStep(level=Level.TOOL, text="", check="executed", usage=Usage(saved=3))
    cost = tables.cost(one([run(steps=(step,)), run(task=1)]))
    assert [column.title for column in cost.columns][7:] == ["calls saved"]
    assert cost.blocks[0].rows[0].cells[7:] == (("3", "1.5"),)
    assert cost.notes[-1].startswith("calls saved: ")


def test_model_calls_have_no_columns_where_there_are_none() -> None:
    cost = tables.cost(one([run()]))
    assert "LLM calls" not in [column.title for column in cost.columns]
    assert cost.blocks[0].rows[0].cells == (
        ("-", ""),
        ("-", ""),
        ("-", ""),
        ("-", ""),
        ("0.0",),
        ("0",),
        ("-", "-"),
    )


@pytest.mark.parametrize(
    ("number", "shown"),
    [(0, "0"), (999, "999"), (1_234, "1.2k"), (69_514_574, "69.5M"), (2.5e9, "2.5G")],
)
def test_big_numbers_are_short(number: float, shown: str) -> None:
    assert tables.short(number) == shown


def test_replays_are_shown_beside_the_recorded_outcomes() -> None:
    runs = [
        run(task=0, agent=GPT, utility=True, recorded_utility=True),
        run(task=1, agent=GPT, utility=False, recorded_utility=True),
        run(goal=0, agent=GPT, hijacked=True, recorded_utility=True, recorded_hijacked=True),
        run(goal=1, agent=GPT, utility=True, recorded_utility=True, recorded_hijacked=True),
        run(goal=2, agent=GPT, error="x", recorded_utility=True, recorded_hijacked=True),
    ]
    replays = tables.replays(one(runs, way="replay"))
    assert replays is not None
    assert row(replays, "overall").cells == (
        ("100", "50.0", "-50.0"),
        ("100", "50.0", "-50.0"),
        ("100", "50.0", "-50.0"),
    )
    assert row(replays, "banking").cells == row(replays, "overall").cells
    assert tables.replays(one(runs, way="live")) is None
    assert tables.replays(one([run(agent=GPT)], way="replay")) is None


def test_a_suite_without_attacks_has_no_figures_for_them() -> None:
    replays = tables.replays(one([run(agent=GPT, recorded_utility=True)], way="replay"))
    assert replays is not None
    assert row(replays, "overall").cells[1] == ("-", "-", "-")


def labels(grid: Grid, block: int) -> list[str]:
    return [row.label for row in grid.blocks[block].rows]


def test_our_rows_are_shown_with_those_of_their_model_and_attack() -> None:
    lines = everything()
    first, second, third = (paper_comparison.paper(number, lines) for number in (1, 2, 3))
    worst = ["ours: no shield, worst-case", "ours: embedded judge, worst-case"]
    assert [block.heading for block in first.blocks] == [f"GPT-4o, {each}" for each in ATTACKS]
    assert labels(first, 0)[2:] == [*worst, f"ours: no shield, replay, {GPT}"]
    assert labels(first, 1)[2:] == [f"ours: no shield, replay, {GPT}"]
    assert [block.heading for block in second.blocks] == [
        "GPT-4o, important_instructions",
        "GPT-4o-mini, important_instructions",
    ]
    assert labels(second, 0)[6:] == [*worst, f"ours: no shield, replay, {GPT}"]
    assert labels(second, 1)[6:] == worst
    assert labels(third, 0)[6:] == [*worst, f"ours: openai judge, live, {paper_figures.GPT_3_5}"]


def test_published_figures_are_shown_as_published() -> None:
    second = paper_comparison.paper(2, [])
    assert row(second, "paper: Task Shield").cells[-1] == ("73.20", "69.79", "2.07")
    assert row(second, "paper: no defence").cells[0] == ("65.00", "64.29", "11.43")
    first = paper_comparison.paper(1, [])
    assert row(first, "paper: Task Shield", 2).cells[-1] == ("66.93", "0.48")
    assert len(first.notes) == 1


def test_our_figures_beside_the_paper_are_those_of_the_benchmark() -> None:
    lines = one(synthetic.benchmark_runs())
    cells = row(paper_comparison.paper(2, lines), "ours: embedded judge, worst-case").cells
    for cell, suite in zip(cells, paper_figures.SUITES, strict=False):
        each = lines[0].result.suites[suite]
        assert each.clean_utility and each.utility and each.asr
        rates = (each.clean_utility, each.utility, each.asr)
        assert cell == tuple(f"{100 * rate.value:.2f}" for rate in rates)


def test_a_benchmark_that_differs_from_the_papers_is_marked() -> None:
    part = one([run(utility=True), run(goal=1, hijacked=True)])
    table = paper_comparison.paper(2, part)
    ours = row(table, "ours: embedded judge, worst-case, 1 of 629 pairs")
    assert ours.cells == (*((("-",) * 3,) * 2), ("100.0", "0.00", "100.0"), ("-",) * 3) + (
        ("100.0", "0.00", "100.0"),
    )
    newer = one(
        synthetic.benchmark_runs(goals={**synthetic.GOALS, "workspace": 14}), version="v1.2"
    )
    assert labels(paper_comparison.paper(3, newer), 0)[-1] == (
        "ours: embedded judge, worst-case, suites v1.2, 949 pairs"
    )


def test_ways_and_left_out_runs_are_explained() -> None:
    runs = [run(goal=1, agent=GPT, error="x"), run(goal=2, agent=GPT)]
    notes = " ".join(paper_comparison.paper(2, one(runs, way="live")).notes)
    assert "live:" in notes and "error" in notes and "worst-case" not in notes
    notes = " ".join(paper_comparison.paper(1, everything()).notes)
    assert "worst-case:" in notes and "replay:" in notes and "live:" not in notes


@pytest.mark.parametrize("width", [80, 120])
def test_all_tables_fit_the_terminal(width: int) -> None:
    lines = printed(everything(), width).splitlines()
    assert max(map(len, lines)) <= width


def test_at_120_columns_no_table_is_split() -> None:
    text = printed(everything(), 120)
    assert text.count("banking        slack") == 1  # the head of table 1
    assert text.count("tokens") == 1


def test_no_runs_give_empty_tables() -> None:
    assert "Table 3 of the paper" in printed([])
    assert printed(one([]))


@given(st.lists(synthetic.runs, max_size=12))
@settings(max_examples=30)
def test_any_runs_can_be_shown(runs: list[BenchmarkRun]) -> None:
    lines = entries([(header(way="replay"), runs)])
    assert printed(lines)
    for entry in lines:
        assert entry.result.overall == figures(entry.runs)


@pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS)
def test_hostile_names_send_no_control_characters_to_the_terminal(payload: str) -> None:
    runs = [
        synthetic.poisoned(replace(each, recorded_utility=True), payload)
        for each in (run(), run(goal=1, hijacked=True, steps=synthetic.conversation()))
    ]
    for way in get_args(Way):
        text = printed(entries([(synthetic.poisoned(header(way=way), payload), runs)]))
        assert hidden(text) == []
