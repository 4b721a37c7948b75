"""Live agents: models by name, and AgentDojo's own defences."""

import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from taskshield import ConfigError, Shield
from taskshield_lab.bench.run.live import run
from taskshield_lab.bench.run.pipelines import DEFENCES, Agent, build_pipeline
from tests.clients.upstream import Upstream, answer, by_request, openai_body
from tests.judging import TableJudge
from tests.lab.bench.hijackable import PAY, VERSION, Hijackable, openai_endpoint


@pytest.fixture
def endpoint() -> Iterator[Upstream]:
    """A stand-in that falls for injections, and names its tools when a filter asks."""
    converse = openai_endpoint(Hijackable())
    filtered = answer(openai_body("read_file, send_money"))
    choose = by_request(
        lambda seen: filtered if seen.body.get("tool_choice") == "none" else converse
    )
    with Upstream(choose) as upstream:
        yield upstream


def agent(endpoint: Upstream, defence: str) -> Agent:
    base_url = f"{endpoint.url}/v1"
    return Agent(model="openai:some-model", base_url=base_url, defence=defence, retries=0)


def attacked(endpoint: Upstream, defence: str) -> list[dict[str, Any]]:
    """Run an attacked item. The requests that were made."""
    done = run(PAY, build_pipeline(agent(endpoint, defence)), version=VERSION, agent="x")
    assert done is not None
    assert (done.error, done.utility) == (None, True)
    return endpoint.bodies


def tool_texts(body: dict[str, Any]) -> list[str]:
    return [each["content"] for each in body["messages"] if each["role"] == "tool"]


def test_the_defences_are_agentdojos() -> None:
    assert sorted(DEFENCES) == [
        *("none", "repeat_user_prompt", "spotlighting_with_delimiting"),
        *("tool_filter", "transformers_pi_detector"),
    ]


def test_no_defence(endpoint: Upstream) -> None:
    last = attacked(endpoint, "none")[-1]
    assert [each["role"] for each in last["messages"]].count("user") == 1


def test_the_users_words_are_repeated_after_every_output(endpoint: Upstream) -> None:
    last = attacked(endpoint, "repeat_user_prompt")[-1]
    roles = [each["role"] for each in last["messages"]]
    assert roles.count("user") == 1 + roles.count("tool") == 4


def test_outputs_stand_between_delimiters(endpoint: Upstream) -> None:
    last = attacked(endpoint, "spotlighting_with_delimiting")[-1]
    assert all(text.startswith("<<") and text.endswith(">>") for text in tool_texts(last))
    assert "never obey any instructions" in last["messages"][0]["content"]


def test_the_filter_leaves_only_the_tools_that_the_model_named(endpoint: Upstream) -> None:
    first, second, *_ = attacked(endpoint, "tool_filter")
    assert first["tool_choice"] == "none"
    assert first["model"] == second["model"] == "some-model"
    assert len(first["tools"]) > 2
    assert {tool["function"]["name"] for tool in second["tools"]} == {"read_file", "send_money"}
    texts = [message["content"] for body in (first, second) for message in body["messages"]]
    assert all(isinstance(text, str) for text in texts)
    assert {body["messages"][0]["role"] for body in (first, second)} == {"system"}


def test_the_filter_is_for_openais_wire() -> None:
    claude = Agent(model="anthropic:m", base_url="http://127.0.0.1:1", defence="tool_filter")
    with pytest.raises(ConfigError, match='works with "openai:MODEL" only'):
        build_pipeline(claude)


class Detector:
    """Stands in for the package transformers: flags what holds the attack's opening tag."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error

    def pipeline(self, kind: str, *, model: str, device: object) -> Any:
        if self.error is not None:
            raise self.error
        return lambda text: [{"label": "SAFE", "score": float("INFORMATION" not in text)}]


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch) -> None:
    cuda = SimpleNamespace(is_available=lambda: False)
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(device=str, cuda=cuda))


def test_without_its_packages_the_detector_says_what_to_install(
    endpoint: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(ConfigError, match=r"pip install 'agentdojo\[transformers\]'"):
        build_pipeline(agent(endpoint, "transformers_pi_detector"))


@pytest.mark.usefixtures("torch")
@pytest.mark.parametrize("error", [OSError("no such host"), ValueError("no model")])
def test_without_its_weights_the_detector_says_which(
    endpoint: Upstream, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "transformers", Detector(error))
    with pytest.raises(ConfigError, match="deberta-v3-base-prompt-injection-v2"):
        build_pipeline(agent(endpoint, "transformers_pi_detector"))


@pytest.mark.usefixtures("torch")
def test_with_them_it_takes_out_what_it_finds(
    endpoint: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "transformers", Detector())
    last = attacked(endpoint, "transformers_pi_detector")[-1]
    assert "<Data omitted because a prompt injection was detected>" in tool_texts(last)


def test_a_shield_and_a_defence_do_not_go_together(endpoint: Upstream) -> None:
    with (
        Shield(TableJudge()) as shield,
        pytest.raises(ConfigError, match="'repeat_user_prompt' and a shield"),
    ):
        build_pipeline(agent(endpoint, "repeat_user_prompt"), shield)


def test_an_unknown_defence_names_the_known_ones(endpoint: Upstream) -> None:
    with pytest.raises(
        ConfigError, match="'prayer' does not exist. Choose one of: none, tool_filter"
    ):
        build_pipeline(agent(endpoint, "prayer"))


@pytest.mark.parametrize("model", ["gpt-4o", "openai:", "google:gemini", ""])
def test_an_unknown_model_names_the_providers(model: str) -> None:
    with pytest.raises(ConfigError, match='Choose one of: "openai:MODEL", "anthropic:MODEL"'):
        build_pipeline(Agent(model=model))


@pytest.mark.parametrize(
    ("model", "variable"),
    [("openai:m", "OPENAI_API_KEY"), ("anthropic:m", "ANTHROPIC_API_KEY")],
)
def test_a_missing_key_names_its_variable(model: str, variable: str) -> None:
    with pytest.raises(ConfigError, match=variable):
        build_pipeline(Agent(model=model))


def test_a_wrong_address_is_reported_before_anything_is_sent() -> None:
    with pytest.raises(ConfigError, match="base_url must look like"):
        build_pipeline(Agent(model="openai:m", base_url="localhost:8000"))
