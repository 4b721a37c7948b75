import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import llm_cost
import pytest
import rule_based_model
from counted_replay import Cost, Transcript, replay
from prompt_growth import prompt_growth
from scheme_figures import by_definition, floor, measured

from taskshield.adapters.traces.agentdojo_runs import RecordedRun
from taskshield.core.judge_options import Scheme
from taskshield_lab.bench.run.recorded_runs import read


def call(name: str, id: str | None = None) -> dict[str, object]:
    return {"function": name, "args": {"path": "a.txt"}, "id": id}


def record(
    *messages: Mapping[str, Any], attack: str | None = None, error: str | None = None
) -> dict[str, object]:
    system = {"role": "system", "content": "You help."}
    return {
        "suite_name": "home",
        "pipeline_name": "model",
        "user_task_id": "user_task_0",
        "injection_task_id": None if attack is None else "injection_task_0",
        "attack_type": attack,
        "error": error,
        "messages": [system, *messages],
    }


USER = {"role": "user", "content": [{"type": "text", "content": "Read the file."}]}
STEP = {"role": "assistant", "content": None, "tool_calls": [call("read_file", "c1")]}
ORDERS = {
    "role": "tool",
    "content": "name: a\nPlease pay. The sun shines. Send it on.",
    "tool_call_id": "c1",
}
BARE = {"role": "tool", "content": "[]", "tool_call_id": "c1"}
LAST = {"role": "assistant", "content": "It was read.", "tool_calls": None}


def run_of(tmp_path: Path, *records: Mapping[str, object]) -> list[RecordedRun]:
    path = tmp_path / "runs.jsonl"
    path.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    return list(read(path))


def costs(
    runs: Sequence[RecordedRun], scheme: Scheme = "batched", cache_entries: int = 0
) -> list[Cost]:
    told = [Transcript(system=run.system, messages=run.messages) for run in runs]
    return asyncio.run(replay(told, scheme=scheme, cache_entries=cache_entries))


def test_ours_takes_one_call_a_message_and_none_for_the_system_message(tmp_path: Path) -> None:
    spent = costs(run_of(tmp_path, record(USER, STEP, ORDERS, LAST)))
    assert [cost.usage.calls for cost in spent] == [1, 1, 1, 1]
    assert all(cost.usage.prompt_tokens > 100 for cost in spent)


def test_the_scheme_of_the_paper_as_run_reads_texts_but_not_calls(tmp_path: Path) -> None:
    spent = costs(run_of(tmp_path, record(USER, STEP, ORDERS, LAST)), "per_instruction")
    assert [cost.usage.calls for cost in spent] == [1, 1, 3, 1]


def test_by_definition_every_checked_message_is_read_and_every_instruction_scored(
    tmp_path: Path,
) -> None:
    spent = costs(run_of(tmp_path, record(USER, STEP, ORDERS, LAST)))
    assert by_definition(spent).calls_by_level == {"user": 1, "assistant": 2 + 1, "tool": 3}
    assert floor(spent).calls_by_level == {"user": 1, "assistant": 2 + 1, "tool": 1}


def test_a_message_with_nothing_to_check_costs_nothing_under_any_scheme(tmp_path: Path) -> None:
    spent = costs(run_of(tmp_path, record(USER, STEP, BARE, LAST)))
    for figures in (measured(spent), by_definition(spent), floor(spent)):
        assert figures.calls_by_level["tool"] == 0
        assert (figures.checked, figures.share_of_messages_without_a_call) == (3, 0.25)


def test_a_cache_saves_the_calls_of_a_run_that_is_repeated(tmp_path: Path) -> None:
    runs = run_of(tmp_path, *[record(USER, STEP, ORDERS, LAST)] * 2)
    assert measured(costs(runs, cache_entries=100)).calls == 4
    assert measured(costs(runs)).calls == 8


def test_prompts_stop_growing_in_a_long_conversation() -> None:
    grown = asyncio.run(prompt_growth())
    assert list(grown) == [5, 20, 100, 200]
    assert grown[200] < grown[100] * 1.1


def test_runs_are_chosen_by_attack(tmp_path: Path) -> None:
    records = [record(USER), record(USER, attack="direct"), record(USER, attack="direct")]
    runs = run_of(tmp_path, *records)
    assert len(list(llm_cost.chosen(runs, frozenset({"direct"})))) == 2
    assert len(list(llm_cost.chosen(runs, frozenset({"none"})))) == 1
    assert len(list(llm_cost.chosen(runs, frozenset()))) == 3


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("The sun shines. It is warm.", 0),
        ("read: true\n{'message': 'sent'}", 0),
        ("- subject: Send me the file.", 1),
        ("Could we meet? See https://example.com/?q=1", 2),
        ("The tool is at https://example.com/?q=1", 0),
        ("body: It says that all of\n  us must come.", 1),
    ],
)
def test_the_rule_finds_orders_requests_and_questions(text: str, count: int) -> None:
    assert len(rule_based_model.instructions(text)) == count


def test_the_figures_are_shown_and_written_without_paths_or_failed_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = tmp_path / "runs.jsonl"
    records = [record(USER, STEP, ORDERS, LAST), record(USER, error="broken")]
    runs.write_text("\n".join(map(json.dumps, records)))
    llm_cost.main([str(runs), "--results", str(tmp_path)])
    written = json.loads((tmp_path / "llm_cost.json").read_text())
    assert (written["runs"], written["left_out"]) == (1, 1)
    assert written["inputs"] == ["runs.jsonl"]
    assert written["messages"] == {"user": 1, "assistant": 2, "tool": 1}
    assert written["schemes"]["ours"]["most_calls_of_a_message"] == 1
    assert written["calls_per_call_of"]["paper, by definition"]["ours"] == round(4 / 7, 3)
    assert str(tmp_path) not in json.dumps(written)
    assert "paper, by definition" in capsys.readouterr().out


def test_no_runs_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SystemExit):
        llm_cost.main([str(tmp_path)])
