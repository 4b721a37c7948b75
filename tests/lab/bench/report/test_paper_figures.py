"""The published figures, checked against each other to catch errors of typing."""

import pytest

from taskshield_lab.bench.report import paper_figures

ROWS = [row for table in (1, 2, 3) for row in paper_figures.rows(table)]
IDS = [f"{row.table}-{row.model}-{row.attack}-{row.defence}" for row in ROWS]


def cases(share: float, total: int) -> int:
    """The whole number of cases that a share of two decimals stands for."""
    count = round(share * total / 100)
    assert abs(100 * count / total - share) < 0.00501, (share, total)
    return count


def pooled(shares: dict[str, float], totals: dict[str, int]) -> float:
    hits = sum(cases(shares[suite], totals[suite]) for suite in paper_figures.SUITES)
    return 100 * hits / sum(totals.values())


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_each_overall_is_the_share_of_all_cases_of_the_suites(row: paper_figures.Row) -> None:
    pairs = dict(paper_figures.PAIRS)
    u = pooled({suite: each.u for suite, each in row.suites.items()}, pairs)
    asr = pooled({suite: each.asr for suite, each in row.suites.items()}, pairs)
    assert (f"{u:.2f}", f"{asr:.2f}") == (f"{row.overall.u:.2f}", f"{row.overall.asr:.2f}")
    clean = {suite: each.cu for suite, each in row.suites.items() if each.cu is not None}
    assert len(clean) == (0 if row.table == 1 else 4)
    if clean:
        cu = pooled(clean, dict(paper_figures.USER_TASKS))
        assert f"{cu:.2f}" == f"{row.overall.cu:.2f}"
    else:
        assert row.overall.cu is None


def test_all_lines_of_the_tables_are_there_once() -> None:
    assert [len(paper_figures.rows(table)) for table in (1, 2, 3)] == [6, 12, 6]
    assert len(set(IDS)) == len(IDS)
    assert {row.attack for row in paper_figures.rows(1)} == {
        "important_instructions",
        "injecagent",
        "ignore_previous",
    }
    assert {row.model for row in paper_figures.rows(2)} == {
        paper_figures.GPT_4O,
        paper_figures.GPT_4O_MINI,
    }
    assert {row.model for row in paper_figures.rows(3)} == {paper_figures.GPT_3_5}
    assert {row.defence for row in paper_figures.rows(1)} == {
        paper_figures.NO_DEFENCE,
        paper_figures.TASK_SHIELD,
    }


def test_the_headline_figures_are_those_of_the_abstract() -> None:
    (shield,) = [
        row
        for row in paper_figures.rows(2)
        if row.model == paper_figures.GPT_4O and row.defence == paper_figures.TASK_SHIELD
    ]
    assert (shield.overall.u, shield.overall.asr) == (69.79, 2.07)


def test_tables_1_and_2_agree_where_they_say_the_same() -> None:
    def key(row: paper_figures.Row) -> tuple[str, str, str]:
        return row.model, row.attack, row.defence

    second = {key(row): row for row in paper_figures.rows(2)}
    both = [row for row in paper_figures.rows(1) if key(row) in second]
    assert len(both) == 2
    for row in both:
        other = second[key(row)]
        assert row.overall.u == other.overall.u and row.overall.asr == other.overall.asr
        for suite in paper_figures.SUITES:
            assert row.suites[suite].u == other.suites[suite].u
            assert row.suites[suite].asr == other.suites[suite].asr


def test_there_are_97_user_tasks_and_629_pairs() -> None:
    assert sum(paper_figures.USER_TASKS.values()) == 97
    assert sum(paper_figures.PAIRS.values()) == 629
