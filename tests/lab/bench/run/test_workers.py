"""Runs in processes of their own."""

from collections.abc import Iterable
from functools import partial

import pytest

from taskshield import Shield
from taskshield.adapters.stored.documents import read_json
from taskshield.core.errors import ConfigError, TaskShieldError
from taskshield_lab.bench.agentdojo.items import Selection, items
from taskshield_lab.bench.record_shapes import RUN
from taskshield_lab.bench.records import BenchmarkRun
from taskshield_lab.bench.run import worst_case
from taskshield_lab.bench.run.workers import ShieldPlan, run_all

PART = items(
    Selection(
        suites=("slack",),
        user_tasks=("user_task_1", "user_task_2"),
        injection_tasks=("injection_task_1",),
    )
)
SIT = partial(worst_case.run, version="v1")


def nothing(job: int, shield: Shield | None) -> BenchmarkRun | None:
    return None


def spoiled(job: int, shield: Shield | None) -> BenchmarkRun | None:
    raise ConfigError("the key is wrong")


def outcomes(lines: Iterable[str | None]) -> list[tuple[str, bool, bool]]:
    runs = [read_json(RUN, line, "record") for line in lines if line is not None]
    return sorted((run.id, run.utility, run.hijacked) for run in runs)


def test_processes_give_what_one_gives() -> None:
    plan = ShieldPlan(judge="block-side-effects")
    here = outcomes(run_all(PART, SIT, plan, workers=1))
    there = outcomes(run_all(PART, SIT, plan, workers=2))
    assert here == there
    assert len(here) == 4


@pytest.mark.parametrize("workers", [1, 2])
def test_a_job_with_nothing_to_run_is_reported_as_such(workers: int) -> None:
    assert list(run_all(range(20), nothing, ShieldPlan(), workers=workers)) == [None] * 20


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_that_affects_every_run_ends_the_benchmark(workers: int) -> None:
    with pytest.raises(TaskShieldError, match="the key is wrong"):
        list(run_all(range(20), spoiled, ShieldPlan(), workers=workers))


def test_a_plan_for_no_defence_has_no_shield() -> None:
    assert ShieldPlan().build() is None


def test_a_plan_without_a_judge_takes_that_of_the_settings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TASKSHIELD_JUDGE", "allow-all")
    shield = ShieldPlan(judge=None).build()
    assert shield is not None
    with shield:
        assert shield.settings.judge == "allow-all"
