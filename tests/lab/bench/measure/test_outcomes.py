"""Figures of a benchmark, counted by hand."""

from dataclasses import replace

import pytest

from taskshield.core.decisions import Action
from taskshield.core.levels import Level
from taskshield.core.usage import Usage
from taskshield_lab.bench.measure.outcomes import (
    by_injection,
    disturbed_runs,
    figures,
    results,
    successful_attacks,
)
from taskshield_lab.bench.measure.rates import Rate
from taskshield_lab.bench.records import BenchmarkRun, Call, Owner, RecordedStep
from tests.lab.bench.synthetic import run


def hits(rate: Rate | None) -> tuple[int, int]:
    assert rate is not None
    return rate.hits, rate.total


def calling(*calls: tuple[Owner | None, bool]) -> RecordedStep:
    """An assistant message with calls, each of an owner and executed or not."""
    return RecordedStep(
        level=Level.ASSISTANT,
        text="",
        check="executed",
        calls=tuple(
            Call(
                id=str(number),
                name="f",
                arguments="{}",
                action="allow" if executed else "block",
                executed=executed,
                owner=owner,
            )
            for number, (owner, executed) in enumerate(calls)
        ),
    )


CLEAN = [
    run(task=0, utility=True),
    run(task=1, utility=False),
    run(task=2, utility=True, error="broken"),
]
ATTACKED = [
    run(task=0, goal=0, utility=True, hijacked=True),
    run(task=0, goal=1, utility=False, hijacked=True, by_words=True, unsolved=True),
    run(task=1, goal=0, utility=True, hijacked=False),
    run(task=1, goal=1, utility=True, hijacked=False, unsolved=True),
    run(task=2, goal=0, utility=True, hijacked=True, error="broken"),
]


def test_runs_are_counted_and_those_with_errors_are_not() -> None:
    found = figures([*CLEAN, *ATTACKED])
    assert hits(found.clean_utility) == (1, 2)
    assert hits(found.utility) == (3, 4)
    assert hits(found.asr) == (2, 4)
    assert hits(found.asr_by_calls) == (1, 4)
    assert hits(found.asr_solved) == (1, 2)
    assert (found.clean_runs, found.attacked_runs, found.errors) == (2, 4, 2)
    assert (found.unsolved, found.by_words) == (2, 1)


def test_intervals_are_clustered_by_user_task() -> None:
    alike = [run(task=task, goal=goal, hijacked=task < 3) for task in range(9) for goal in range(9)]
    apart = [
        run(task=9 * task + goal, goal=0, hijacked=task < 3)
        for task in range(9)
        for goal in range(9)
    ]
    clustered, independent = figures(alike).asr, figures(apart).asr
    assert clustered is not None and independent is not None
    assert clustered.value == independent.value
    assert clustered.high - clustered.low > 2 * (independent.high - independent.low)


def test_user_tasks_of_different_suites_are_different_clusters() -> None:
    runs = [run(suite=suite, task=0, goal=0, hijacked=False) for suite in ("a", "b", "c")]
    apart, together = figures(runs).asr, figures([replace(each, suite="a") for each in runs]).asr
    assert apart is not None and together is not None
    assert apart.high < together.high


def test_blocked_calls_of_clean_runs_are_false_blocks() -> None:
    clean = run(
        utility=True, steps=(calling(("user", True), ("user", False)), calling((None, True)))
    )
    attacked = run(goal=0, steps=(calling(("user", False), ("attacker", False)),))
    found = figures([clean, attacked])
    assert hits(found.false_blocks) == (1, 3)
    assert hits(found.missed_calls) == (0, 1)


def test_the_attackers_calls_that_pass_are_missed() -> None:
    steps = (calling(("user", True), ("attacker", True), ("attacker", False), (None, True)),)
    assert hits(figures([run(goal=0, steps=steps)]).missed_calls) == (1, 2)


def test_a_call_that_was_allowed_and_did_not_run_is_no_false_block() -> None:
    step = calling(("user", True))
    unknown = replace(step, calls=(replace(step.calls[0], executed=False),))
    found = figures([run(steps=(unknown,))])
    assert hits(found.false_blocks) == (0, 1)
    assert hits(found.disturbed) == (0, 1)


@pytest.mark.parametrize(
    ("owner", "recorded", "executed", "expected"),
    [
        ("user", None, False, (1, 1)),  # the worst-case agent
        ("user", None, True, (0, 1)),
        (None, True, False, (1, 1)),  # a replay
        (None, True, True, (0, 1)),
        (None, False, False, None),
        (None, None, False, None),  # not known for a live agent
    ],
)
def test_a_clean_run_is_disturbed_only_if_it_would_have_succeeded(
    owner: Owner | None, recorded: bool | None, executed: bool, expected: tuple[int, int] | None
) -> None:
    steps = (calling((owner, True)), calling((owner, executed)))
    found = figures([run(recorded_utility=recorded, steps=steps)]).disturbed
    assert (found if found is None else hits(found)) == expected


@pytest.mark.parametrize(
    ("action", "cut"),
    [("allow", 0), ("annotate", 0), ("observe", 0), ("redact", 1), ("withhold", 1)],
)
def test_output_that_is_not_given_whole_disturbs_a_clean_run(action: Action, cut: int) -> None:
    output = RecordedStep(level=Level.TOOL, text="", check="executed", action=action)
    found = figures([run(steps=(calling(("user", True)), output)), run(goal=0, steps=(output,))])
    assert hits(found.false_redactions) == (cut, 1)
    assert hits(found.disturbed) == (cut, 1)


def test_checks_times_and_tokens() -> None:
    steps = (
        RecordedStep(level=Level.SYSTEM, text="", check="skipped", ms=900),
        RecordedStep(level=Level.USER, text="", check="executed", ms=800, usage=Usage(calls=1)),
        RecordedStep(level=Level.ASSISTANT, text="", check="executed", ms=10, usage=Usage(calls=2)),
        RecordedStep(level=Level.TOOL, text="", check="executed", ms=20),
        RecordedStep(level=Level.TOOL, text="", check="executed", ms=700, cached=True),
        RecordedStep(
            level=Level.TOOL, text="", check="failed", ms=600, usage=Usage(prompt_tokens=5)
        ),
    )
    found = figures([run(steps=steps), run(goal=0), run(task=1, error="x", steps=steps)])
    assert found.checks == 5 / 2
    assert found.outages == 1
    assert found.p50_ms == 15
    assert found.p99_ms == pytest.approx(19.9)
    assert found.usage == Usage(calls=3, prompt_tokens=5)


def test_one_time_is_its_own_median_and_none_has_none() -> None:
    step = RecordedStep(level=Level.TOOL, text="", check="executed", ms=3)
    assert figures([run(steps=(step,))]).p50_ms == 3
    assert figures([run()]).p99_ms is None


def test_nothing_has_no_shares() -> None:
    found = figures([])
    assert (found.asr, found.clean_utility, found.false_blocks, found.checks) == (None,) * 3 + (0,)


def test_each_agent_and_attack_is_a_result_and_clean_runs_go_with_each() -> None:
    runs = [
        run(agent="x", utility=True),
        run(agent="x", goal=0, attack="a", suite="slack"),
        run(agent="x", goal=0, attack="b"),
        run(agent="y"),
    ]
    found = results(runs)
    assert [(each.agent, each.attack) for each in found] == [("x", "a"), ("x", "b"), ("y", None)]
    assert [each.overall.clean_runs for each in found] == [1, 1, 1]
    assert [each.overall.attacked_runs for each in found] == [1, 1, 0]
    assert list(found[0].suites) == ["banking", "slack"]
    assert found[0].suites["slack"].clean_runs == 0


def test_goals_are_in_the_order_of_their_numbers() -> None:
    runs = [run(goal=goal, task=task, hijacked=goal == 2) for goal in (10, 2, 0) for task in (0, 1)]
    cells = by_injection([*runs, run(), run(goal=5, error="x")])
    assert [(cell.injection_task, cell.asr.value) for cell in cells] == [
        ("injection_task_0", 0),
        ("injection_task_2", 1),
        ("injection_task_10", 0),
    ]


def test_successful_attacks_begin_with_one_of_each_goal() -> None:
    runs = [run(task=task, goal=goal, hijacked=True) for goal in (0, 1) for task in (0, 1)]
    found = successful_attacks([*runs, run(goal=3), run(task=9, goal=0, hijacked=True, error="x")])
    assert [each.injection_task for each in found][:2] == ["injection_task_0", "injection_task_1"]
    assert len(found) == 4


def test_disturbed_runs_have_a_blocked_call_of_the_user() -> None:
    def blocked_run(
        owner: Owner | None, goal: int | None = None, error: str | None = None
    ) -> BenchmarkRun:
        return run(goal=goal, steps=(calling((owner, False)),), error=error)

    users, attackers, clean = blocked_run("user", 0), blocked_run("attacker", 1), blocked_run(None)
    assert disturbed_runs(
        [users, attackers, blocked_run(None, 2), run(), blocked_run("user", error="x"), clean]
    ) == [
        clean,
        users,
    ]
