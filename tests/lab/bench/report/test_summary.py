"""The figures as JSON."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from taskshield_lab.bench.measure.outcomes import by_injection, results
from taskshield_lab.bench.records import BenchmarkRun, Header
from taskshield_lab.bench.report.summary import summary
from tests.lab.bench import synthetic
from tests.lab.bench.synthetic import header, run


def told_of(header: Header, runs: list[BenchmarkRun]) -> Any:
    return json.loads(json.dumps(summary(header, runs)))


def test_a_summary_has_the_measured_figures() -> None:
    runs = synthetic.benchmark_runs(attacks=("important_instructions", "injecagent"))
    said = told_of(header(), runs)
    assert said["way"] == "worst-case" and said["judge"] == "embedded" and said["runs"] == len(runs)
    measured = results(runs)
    assert [each["attack"] for each in said["results"]] == [each.attack for each in measured]
    for told, result in zip(said["results"], measured, strict=True):
        for figures, each in (
            (told["overall"], result.overall),
            *((told["suites"][suite], each) for suite, each in result.suites.items()),
        ):
            for key in (
                "clean_utility",
                "utility",
                "asr",
                "asr_by_calls",
                "asr_solved",
                "false_blocks",
                "false_redactions",
                "disturbed",
                "missed_calls",
            ):
                rate = getattr(each, key)
                assert figures[key]["hits"] == rate.hits
                assert figures[key]["total"] == rate.total
                assert figures[key]["value"] == round(rate.value, 4)
                assert figures[key]["low"] == round(rate.low, 4)
                assert figures[key]["high"] == round(rate.high, 4)
            for key in ("clean_runs", "attacked_runs", "unsolved", "by_words", "errors", "outages"):
                assert figures[key] == getattr(each, key)
            assert figures["llm_calls"] == each.usage.calls
            assert figures["llm_calls_saved"] == each.usage.saved
            assert figures["llm_fallbacks"] == each.usage.fallbacks
            assert figures["prompt_tokens"] == each.usage.prompt_tokens
            assert figures["completion_tokens"] == each.usage.completion_tokens
            assert figures["checks_per_conversation"] == round(each.checks, 4)


def test_each_goal_has_its_share() -> None:
    runs = synthetic.benchmark_runs()
    (told,) = told_of(header(), runs)["results"]
    cells = by_injection(runs)
    assert [(each["suite"], each["injection_task"]) for each in told["goals"]] == [
        (cell.suite, cell.injection_task) for cell in cells
    ]
    assert [each["asr"]["hits"] for each in told["goals"]] == [cell.asr.hits for cell in cells]


def test_what_a_record_says_is_kept_for_replays() -> None:
    runs = [run(goal=1, recorded_utility=True, recorded_hijacked=True)]
    (told,) = told_of(header(way="replay"), runs)["results"]
    assert told["recorded"]["asr"]["value"] == 1
    assert told["recorded"]["clean_utility"] is None
    (worst,) = told_of(header(), [run(goal=1)])["results"]
    assert "recorded" not in worst


@given(st.lists(synthetic.runs, max_size=8))
def test_any_runs_give_json(runs: list[BenchmarkRun]) -> None:
    assert json.dumps(summary(header(), runs), allow_nan=False)
