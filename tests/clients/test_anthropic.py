import pytest

from taskshield.clients.anthropic import AnthropicClient
from taskshield.core.chat import FinishReason
from tests.clients.providers import ANTHROPIC, SCHEMA, ask
from tests.clients.upstream import Upstream, answer, anthropic_body


def test_structured_output_is_asked_for() -> None:
    with Upstream(answer(anthropic_body("{}"))) as upstream:
        ask(ANTHROPIC.client(upstream))
    (body,) = upstream.bodies
    assert body["output_config"] == {"format": {"type": "json_schema", "schema": SCHEMA}}
    assert body["system"] == "You are a judge."


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "refusal"),
        ("tool_use", "other"),
        (None, "other"),
    ],
)
def test_stop_reasons(reason: str | None, finish: FinishReason) -> None:
    with Upstream(answer(anthropic_body("{}", finish=reason))) as upstream:
        assert ask(ANTHROPIC.client(upstream))[0].finish == finish


def test_text_blocks_are_joined_and_others_left_out() -> None:
    body = anthropic_body('{"a"', ": 1}")
    body["content"].insert(1, {"type": "thinking", "thinking": "hm", "text": "not this"})
    with Upstream(answer(body)) as upstream:
        assert ask(ANTHROPIC.client(upstream))[0].text == '{"a": 1}'


def test_no_blocks_are_an_empty_answer() -> None:
    with Upstream(answer(anthropic_body())) as upstream:
        assert ask(ANTHROPIC.client(upstream))[0].text == ""


def test_other_credentials_of_the_environment_are_not_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "a-token")
    with Upstream(answer(anthropic_body("{}"))) as upstream:
        ask(AnthropicClient(model="m", base_url=upstream.url))
    assert upstream.seen[0].headers["authorization"] == "Bearer not-needed"
    assert "a-token" not in str(upstream.seen[0].headers)
