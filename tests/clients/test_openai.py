import asyncio

import pytest

from taskshield.clients.openai import OpenAIClient
from taskshield.core.chat import FinishReason
from tests.clients.providers import OPENAI, REQUEST, SCHEMA, ask
from tests.clients.upstream import (
    RETRY_AT_ONCE,
    Behaviour,
    Seen,
    Upstream,
    answer,
    by_request,
    openai_body,
)


def test_structured_output_is_asked_for_in_strict_mode() -> None:
    with Upstream(answer(openai_body())) as upstream:
        ask(OPENAI.client(upstream))
    assert upstream.bodies[0]["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "verdict", "strict": True, "schema": SCHEMA},
    }
    assert upstream.bodies[0]["messages"][0] == {"role": "system", "content": "You are a judge."}


@pytest.mark.parametrize(
    ("accepted", "formats"),
    [
        ("json_object+schema", ["json_schema", "json_object+schema", "json_object+schema"]),
        ("json_object", ["json_schema", "json_object+schema", "json_object", "json_object"]),
        (None, ["json_schema", "json_object+schema", "json_object", None, None]),
    ],
)
@pytest.mark.parametrize("status", [400, 422, 500])
def test_the_format_is_dropped_step_by_step(
    accepted: str | None, formats: list[str | None], status: int
) -> None:
    def asked(body: dict[str, dict[str, str]]) -> str | None:
        format = body.get("response_format", {})
        kind = format.get("type")
        return f"{kind}+schema" if "schema" in format else kind

    def choose(seen: Seen) -> Behaviour:
        if asked(seen.body) == accepted:
            return answer(openai_body())
        details = {"message": "This response_format type is unavailable now", "code": 400}
        return answer({"error": details}, status=status, headers=RETRY_AT_ONCE)

    with Upstream(by_request(choose)) as upstream:
        ask(OPENAI.client(upstream), REQUEST, REQUEST)
        assert [asked(body) for body in upstream.bodies] == formats


@pytest.mark.parametrize(
    ("given", "wanted"),
    [("max_tokens", "max_completion_tokens"), ("max_completion_tokens", "max_tokens")],
)
def test_the_name_of_the_token_limit_is_found_out_and_remembered(
    given: str, wanted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    details = {"message": f"Unsupported parameter: '{given}'. Use '{wanted}' instead."}
    said = answer({"error": {**details, "param": given}}, status=400)
    with Upstream(said, answer(openai_body())) as upstream:
        if given == "max_tokens":
            client = OPENAI.client(upstream)
        else:
            # Without a base URL of its own the client takes the endpoint for OpenAI's.
            monkeypatch.setenv("OPENAI_BASE_URL", upstream.url + "/v1")
            client = OpenAIClient(model="m", api_key="k", retries=0)
        ask(client, REQUEST, REQUEST)
        limits = [{key for key in body if key.startswith("max_")} for body in upstream.bodies]
        assert limits == [{given}, {wanted}, {wanted}]
        assert upstream.bodies[-1][wanted] == 256


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("stop", "stop"),
        ("length", "length"),
        ("content_filter", "refusal"),
        ("tool_calls", "other"),
        (None, "other"),
    ],
)
def test_finish_reasons(reason: str | None, finish: FinishReason) -> None:
    with Upstream(answer(openai_body(finish=reason))) as upstream:
        assert ask(OPENAI.client(upstream))[0].finish == finish


def test_a_refusal_is_recognized() -> None:
    with Upstream(answer(openai_body(None, refusal="I will not."))) as upstream:
        (reply,) = ask(OPENAI.client(upstream))
    assert (reply.text, reply.finish) == ("", "refusal")


def test_no_choices_are_an_empty_answer() -> None:
    with Upstream(answer({**openai_body(), "choices": []})) as upstream:
        (reply,) = ask(OPENAI.client(upstream))
    assert (reply.text, reply.finish, reply.usage.tokens) == ("", "other", 18)


def test_a_choice_without_content_is_an_empty_answer() -> None:
    with Upstream(answer({"choices": [{"message": {}}]})) as upstream:
        (reply,) = ask(OPENAI.client(upstream))
    assert (reply.text, reply.finish) == ("", "other")


def test_a_self_hosted_server_needs_no_key() -> None:
    with Upstream(answer(openai_body())) as upstream:
        ask(OpenAIClient(model="m", base_url=upstream.url + "/v1"))
    assert upstream.seen[0].headers["authorization"] == "Bearer not-needed"


def test_the_client_can_be_closed_unused() -> None:
    asyncio.run(OpenAIClient(model="m", api_key="k").aclose())
