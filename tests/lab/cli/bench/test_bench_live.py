"""`taskshield bench live`, against a model that falls for injections."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.clients.upstream import Upstream, answer
from tests.lab.bench.hijackable import PAY, Hijackable, openai_endpoint
from tests.lab.cli.bench.test_bench import Captured, bench, figures, value

LIVE = [
    "--agent",
    "openai:some-model",
    "--judge",
    "none",
    "--suite",
    PAY.suite,
    "--user-task",
    PAY.user_task,
    "--injection-task",
    "injection_task_0",
    "--workers",
    "1",
]


@pytest.mark.parametrize(("judge", "stolen"), [("none", 1), ("block-side-effects", 0)])
def test_a_live_agent(tmp_path: Path, judge: str, stolen: int, capsys: Captured) -> None:
    with Upstream(openai_endpoint(Hijackable())) as upstream:
        words = [*LIVE, "--agent-url", f"{upstream.url}/v1", "--judge", judge, "--no-clean"]
        assert bench(tmp_path, "live", *words) == 0
    (path,) = tmp_path.glob("*.json")
    told = figures(path)
    (result,) = told["results"]
    assert (result["agent"], value(result, "asr")) == ("openai:some-model", stolen)
    assert (told["way"], told["judge"]) == ("live", judge)
    assert "openai:some-model" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (
            ["--defence", "prayer"],
            "defence 'prayer' does not exist. Choose one of: none, tool_filter",
        ),
        (
            ["--defence", "tool_filter", "--judge", "allow-all"],
            "cannot guard the same agent. Choose one.",
        ),
        (["--agent", "nobody:x"], "agent 'nobody:x' does not exist"),
        (["--agent-url", "http://127.0.0.1:1/v1"], "The endpoint cannot be reached."),
    ],
)
def test_a_live_agent_that_cannot_be(
    tmp_path: Path, capsys: Captured, words: Sequence[str], complaint: str
) -> None:
    assert bench(tmp_path, "live", *LIVE, *words) == 2
    assert complaint in capsys.readouterr().err


@pytest.mark.parametrize("time", ["0", "-1", "nan", "inf", "soon"])
def test_a_time_is_a_number_of_seconds(tmp_path: Path, time: str) -> None:
    with pytest.raises(SystemExit) as stop:
        bench(tmp_path, "live", *LIVE, "--agent-timeout", time)
    assert stop.value.code == 2


def test_an_agent_that_never_answers_is_tried_again_and_no_success(
    tmp_path: Path, capsys: Captured
) -> None:
    with Upstream(answer({"error": {"message": "busy"}}, status=400)) as upstream:
        words = [*LIVE, "--agent-url", f"{upstream.url}/v1", "--no-clean"]
        assert bench(tmp_path, "live", *words) == 2
        assert "All runs failed" in capsys.readouterr().err
        requests = len(upstream.seen)
        assert bench(tmp_path, "live", *words, "--resume") == 2
        assert len(upstream.seen) > requests


def test_the_command_is_kept_without_places_and_secrets(tmp_path: Path) -> None:
    with Upstream(openai_endpoint(Hijackable())) as upstream:
        address = upstream.url.replace("http://", "http://me:pa55@")
        words = [*LIVE, f"--agent-url={address}/v1?key=t0psecret", "--agent", "openai:org/model"]
        assert bench(tmp_path, "live", *words) == 0
    (path,) = tmp_path.glob("*.json")
    told = path.read_text()
    assert "pa55" not in told and "t0psecret" not in told
    assert "--agent openai:org/model" in figures(path)["command"]
    assert f"--out {tmp_path.name}" in figures(path)["command"]
