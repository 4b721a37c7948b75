"""The cells of the heat map."""

from taskshield_lab.bench.report.entries import entries
from taskshield_lab.bench.report.goal_rates import Goal, goals, lines
from tests.lab.bench.synthetic import header, run


def goal(number: int, suite: str = "banking") -> Goal:
    return Goal(suite=suite, injection_task=f"injection_task_{number}")


def test_each_goal_has_its_share_and_unsolved_ones_are_known() -> None:
    runs = [
        run(),
        run(task=0, goal=10, hijacked=True),
        run(task=1, goal=10),
        run(task=0, goal=2, unsolved=True),
        run(task=0, goal=3, error="broken"),
    ]
    (line,) = lines(entries([(header(), runs)]))
    assert line.asr == {goal(2): 0, goal(10): 0.5}
    assert line.unsolved == {goal(2)}


def test_goals_are_in_order_suite_by_suite() -> None:
    short = [run(suite="slack", goal=1), run(goal=7)]
    long = [run(suite="slack", goal=number) for number in (0, 2, 10)] + [run(goal=2)]
    found = lines(entries([(header(judge="a"), short), (header(judge="b"), long)]))
    slack = [goal(number, "slack") for number in (0, 1, 2, 10)]
    assert goals(found) == [goal(2), goal(7), *slack]


def test_clean_runs_make_no_line() -> None:
    assert lines(entries([(header(), [run()])])) == []
    assert goals([]) == []
