import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import arithmetic_floor
import embedded_latency
import pytest
import similarity_baseline
from arithmetic_floor import Encoder, floors
from long_output import Material
from stage_times import ENGINE, MODEL, REST, STAGES, Stopwatch
from timed_checks import Check, long_session

from taskshield.core.tools import Tier
from taskshield.judges.embedded.decision.features import feature_list
from taskshield.judges.embedded.network import model, model_files
from taskshield_lab.bench.scripts import process_memory
from tests.judges.embedded import tiny_model

RATES = {"float32": 1e9, "int8": 4e9}


def record(*messages: Mapping[str, Any]) -> dict[str, object]:
    return {
        "suite_name": "home",
        "pipeline_name": "model",
        "user_task_id": "user_task_0",
        "injection_task_id": None,
        "attack_type": None,
        "error": None,
        "messages": [{"role": "system", "content": "You help."}, *messages],
    }


CALL = {"function": "read_file", "args": {"path": "a.txt"}, "id": "c1"}
RUN = record(
    {"role": "user", "content": [{"type": "text", "content": "Read the file a.txt."}]},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "content": "The pump is old. Send it back.", "tool_call_id": "c1"},
    {"role": "assistant", "content": "It was read.", "tool_calls": None},
)


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tiny model in place of the shipped one, with a decision that weighs nothing."""
    folder = tiny_model.write(tmp_path / "weights")
    decision = {
        "weights": dict.fromkeys(feature_list(), 0.0),
        "bias": 1.0,
        "thresholds": dict.fromkeys([*(tier.value for tier in Tier), "plan"], 0.5),
        "directive": {
            "slope": 1.0,
            "offset": 0.0,
            "planted": 0.9,
            "planted_delegated": 0.95,
            "joined": 0.5,
        },
    }
    (folder / "decision.json").write_text(json.dumps(decision))
    model_files.write_manifest(folder, "tiny", "1.0")
    monkeypatch.setattr(model_files, "SHIPPED", folder)
    monkeypatch.setattr(model, "_SHARED", {})
    return folder


def check(*passes: int, ms: float, in_model: float) -> Check:
    return Check(
        kind="tool calls",
        ms=ms,
        size=0,
        stages={**dict.fromkeys(STAGES, 0.0), MODEL: in_model},
        passes=passes,
    )


def test_the_figures_are_shown_and_written_without_paths(
    tmp_path: Path,
    tiny: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    runs = tmp_path / "runs.jsonl"
    runs.write_text("\n".join([json.dumps(RUN)] * 3))
    monkeypatch.setattr(embedded_latency, "rates", lambda: RATES)
    embedded_latency.main(
        [str(runs), "--sample", "2", "--model", str(tiny), "--results", str(tmp_path)],
        embedded_latency.Sizes(steps=7, large=(2_000, 8_000), starts=1),
    )
    written = json.loads((tmp_path / "embedded_latency.json").read_text())
    assert written["inputs"] == ["runs.jsonl"]
    assert written["model"].startswith("tiny-1.0@")
    assert (written["conversations"], written["failed"]) == (2, 0)
    assert {kind: each["count"] for kind, each in written["checks"].items()} == {
        "user": 2,
        "tool calls": 2,
        "text": 2,
        "tool output": 2,
    }
    assert written["checks"]["tool output"]["kB"] == 0.1
    calls = written["stages"]["tool calls"]
    assert list(calls["stages"]) == list(STAGES)
    assert sum(each["share"] for each in calls["stages"].values()) == pytest.approx(1, abs=0.001)
    assert calls["stages"]["segments"]["median_ms"] == 0
    assert (calls["median_passes"], calls["most_passes"]) == (1, 1)
    assert written["stages"]["tool output"]["stages"]["memory"]["median_ms"] == 0
    assert written["floor"]["tool calls"]["checks"] == 2
    assert list(written["long_session"]["median_ms_of_tool_calls"]) == ["1-5", "6-10"]
    assert list(written["large_output"]["seconds"]) == ["2000", "8000"]
    assert len(written["cold_start"]["seconds"]) == 1
    assert list(written["cosine"]) == ["hashed words"]
    assert str(tmp_path) not in json.dumps(written)
    assert "tool calls" in capsys.readouterr().out


def test_no_runs_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SystemExit):
        embedded_latency.main([str(tmp_path)])


def test_the_output_of_a_long_conversation_is_segmented_once(tiny: Path) -> None:
    found = asyncio.run(long_session(Material(), 5))
    # the last output is checked, and no call comes after it; the others are looked up by calls
    assert found["segmented_per_byte"] == 1.0


def test_what_is_not_timed_by_itself_is_the_rest_or_the_engine() -> None:
    watch = Stopwatch()
    inner = watch.watched("evidence", lambda: 1)
    assert watch.watched("memory", lambda: inner())() == 1
    found = watch.stages(2.0)
    assert found["memory"] > 0 and found["evidence"] == 0  # the outermost counts
    assert found[ENGINE] == 2000
    assert found[REST] == pytest.approx(-found["memory"])


def test_operations_by_hand() -> None:
    # 3 tokens through 4 matrices of 2x2 and 2 of 2x4: 2 * 3 * (16 + 16); attention: 4 * 9 * 2
    assert Encoder(layers=1, width=2, inner=4).operations(3) == 192 + 72
    assert Encoder(layers=5, width=2, inner=4).operations(3) == 5 * (192 + 72)


def test_the_floor_is_operations_by_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Encoder, "operations", lambda self, tokens: tokens * 1_000_000)
    checks = [
        check(2, 3, ms=30.0, in_model=20.0),
        check(5, ms=30.0, in_model=20.0),
        check(ms=1.0, in_model=0.0),
    ]
    found = floors(checks, RATES)
    assert (found["checks"], found["operations"]) == (2, 5_000_000)
    assert found["floor_ms"] == {"float32": 5.0, "int8": 1.25}
    assert found["measured_over_floor"] == {"float32": 6.0, "int8": 24.0}
    assert found["model_over_floor"] == {"float32": 4.0, "int8": 16.0}
    assert floors([check(ms=1.0, in_model=0.0)], RATES) == {"checks": 0}


def test_rates_are_operations_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arithmetic_floor, "SIDE", 16)
    found = arithmetic_floor.rates()
    assert list(found) == ["float32", "int8"]
    assert all(rate > 0 for rate in found.values())


def test_percentiles_are_times_that_were_measured() -> None:
    found = embedded_latency.percentiles([float(n) for n in range(1, 201)])
    assert found == {"p50_ms": 100.0, "p90_ms": 180.0, "p99_ms": 198.0}
    assert embedded_latency.percentiles([]) == {"p50_ms": None, "p90_ms": None, "p99_ms": None}


def test_made_output_has_its_size_and_is_the_same_for_the_same_seed() -> None:
    material = Material()
    text = material.output(5_000, Random(1))
    assert 4_997 <= len(text.encode()) <= 5_000
    assert text == material.output(5_000, Random(1)) != material.output(5_000, Random(2))
    assert "{{INJ}}" not in text


def test_the_cosine_of_hashed_words() -> None:
    one, two = (
        similarity_baseline.hashed("Send the file"),
        similarity_baseline.hashed("send the FILE!"),
    )
    assert similarity_baseline.cosine(one, two) == pytest.approx(1)
    assert similarity_baseline.cosine(one, similarity_baseline.hashed("")) == 0


def test_memory_of_a_process_that_is_not_there_is_not_known() -> None:
    assert process_memory.memory("none") == {"VmRSS": -1.0, "VmHWM": -1.0}
