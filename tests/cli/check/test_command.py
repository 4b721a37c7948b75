"""`check` as a function and as a command, against a real endpoint on loopback."""

import json
from pathlib import Path

import pytest

from taskshield import wiring
from taskshield.adapters.conversations.detect import parse
from taskshield.api.shields import Shield
from taskshield.cli.check.command import check_conversation
from taskshield.cli.main import main
from taskshield.core.assessments import Trace
from taskshield.core.errors import WireFormatError
from taskshield.core.judge_options import JudgeOptions
from tests.cli.hostile import hidden
from tests.cli.stage import CLEAN, HIJACKED, command, endpoint, example, judge, outcome_of
from tests.clients.upstream import Upstream, answer
from tests.judging import TableJudge

Captured = pytest.CaptureFixture[str]


def test_every_message_gets_a_decision_in_order() -> None:
    decisions = outcome_of(example(HIJACKED), judge()).decisions
    assert [decision.case.index for decision in decisions] == list(range(9))
    assert [bool(decision.misaligned) for decision in decisions] == [
        index in (3, 4, 6) for index in range(9)
    ]


def test_output_of_a_refused_call_is_judged_as_the_agent_saw_it() -> None:
    decisions = outcome_of(example(HIJACKED), judge()).decisions
    assert not decisions[6].allowed
    answered = decisions[7].case.answered
    assert answered is not None
    assert answered.name == "send_email"


def test_two_calls_with_one_id_are_bad_input() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    messages = [{"role": "user", "content": "go"}, {"role": "assistant", "tool_calls": [call] * 2}]
    conversation = parse(messages).conversation
    with Shield(TableJudge()) as shield:
        with pytest.raises(WireFormatError, match="^message 1: Two tool calls"):
            check_conversation(conversation, shield)


def test_a_hijacked_conversation_exits_with_1(capsys: Captured) -> None:
    with endpoint() as upstream:
        assert main(command(upstream, HIJACKED)) == 1
    out, err = capsys.readouterr()
    assert "MISALIGNED  3 of 9 messages" in out
    assert "judged by openai:test" in " ".join(out.split())
    assert "8 LLM calls, 144 tokens (88 in, 56 out)" in out
    assert not hidden(out)
    assert not [line for line in out.splitlines() if line != line.rstrip()]
    assert err == ""


def test_a_clean_conversation_exits_with_0(capsys: Captured) -> None:
    with endpoint() as upstream:
        assert main(command(upstream, CLEAN)) == 0
    assert "ALIGNED" in capsys.readouterr().out


@pytest.mark.parametrize(("path", "status"), [(HIJACKED, 1), (CLEAN, 0)])
def test_json_gives_the_same_verdict(path: Path, status: int, capsys: Captured) -> None:
    with endpoint() as upstream:
        assert main(command(upstream, path, "--json")) == status
    found = json.loads(capsys.readouterr().out)
    assert found["verdict"] == ("aligned", "misaligned")[status]
    assert found["file"] == str(path)


def test_an_outage_exits_with_3(capsys: Captured, tmp_path: Path) -> None:
    config = tmp_path / "settings.yaml"
    config.write_text("retries: 0\n")
    with Upstream(answer({"error": {"message": "down"}}, status=500)) as upstream:
        assert main(command(upstream, CLEAN, "--config", config)) == 3
        assert main(command(upstream, CLEAN, "--config", config, "--json")) == 3
    assert "OUTAGE" in capsys.readouterr().out


def test_the_settings_file_may_name_the_judge(tmp_path: Path, capsys: Captured) -> None:
    with endpoint() as upstream:
        config = tmp_path / "settings.toml"
        config.write_text(
            f'judge = "openai:test"\nbase_url = "{upstream.url}/v1"\napi_key = "sk-secret"\n'
        )
        assert main(["check", str(CLEAN), "--config", str(config), "--quiet"]) == 0
        assert upstream.seen[0].headers["authorization"] == "Bearer sk-secret"
    assert "sk-secret" not in capsys.readouterr().out


def test_the_key_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-from-outside")
    with endpoint() as upstream:
        assert main(command(upstream, CLEAN)) == 0
        assert upstream.seen[0].headers["authorization"] == "Bearer sk-from-outside"


@pytest.fixture
def embedded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in for the embedded judge, to whom looking at things is fine and little else."""

    def factory(kind: str, *, key: str = "judge") -> wiring.JudgeFactory:
        return make if kind == "embedded" else found(kind, key=key)

    def make(options: JudgeOptions) -> TableJudge:
        return Free(name="embedded", score=lambda text, task: 0.9, epsilon=0.5)

    found = wiring.load_judge_factory
    monkeypatch.setattr(wiring, "load_judge_factory", factory)


class Free(TableJudge):
    def _trace(self) -> Trace:
        return Trace(judge=self.name)


def cascade(upstream: Upstream, *more: object) -> list[str]:
    url = f"{upstream.url}/v1"
    words = ("check", HIJACKED, "--judge", "cascade", "--llm", "openai:test", "--base-url", url)
    return [str(word) for word in (*words, *more)]


@pytest.mark.usefixtures("embedded")
def test_a_cascade_asks_its_llm_where_it_matters_and_says_what_it_saved(capsys: Captured) -> None:
    with endpoint() as upstream:
        status = main(cascade(upstream))
        out = " ".join(capsys.readouterr().out.split())
        asked = len(upstream.seen)
        assert main(cascade(upstream, "--json")) == status
    found = json.loads(capsys.readouterr().out)
    assert f"{asked} LLM call" in out and f"saved {8 - asked} messages judged without" in out
    assert "LLM out" not in out
    assert "judged by embedded, openai:test" in out
    assert (found["usage"]["calls"], found["usage"]["saved"]) == (asked, 8 - asked)
    assert {step["judge"] for step in found["steps"]} >= {"embedded", "openai:test"}


@pytest.mark.usefixtures("embedded")
def test_a_cascade_whose_llm_is_out_says_so(capsys: Captured, tmp_path: Path) -> None:
    config = tmp_path / "settings.yaml"
    config.write_text("retries: 0\n")
    with Upstream(answer({"error": {"message": "down"}}, status=500)) as upstream:
        assert main(cascade(upstream, "--config", config)) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "LLM out no verdict on" in out
    assert "embedded (openai:test out: unavailable)" in out


def test_an_llm_is_for_the_cascade_only(capsys: Captured) -> None:
    with endpoint() as upstream:
        assert main(command(upstream, CLEAN, "--llm", "openai:test")) == 2
        assert upstream.seen == []
    assert "llm: Only the judge 'cascade'" in capsys.readouterr().err
