"""Live runs whose endpoint fails, in both wire formats."""

from dataclasses import replace
from typing import Any

import pytest

from taskshield import ConfigError, Shield, TaskShieldError
from taskshield_lab.bench.records import BenchmarkRun
from taskshield_lab.bench.run.live import run
from taskshield_lab.bench.run.pipelines import Agent, build_pipeline
from tests.clients.upstream import (
    RETRY_AT_ONCE,
    Behaviour,
    Upstream,
    answer,
    anthropic_body,
    by_request,
    cut_off,
    hang,
    hang_up,
    openai_body,
)
from tests.judging import TableJudge
from tests.lab.bench.hijackable import CLEAN, PAY, VERSION, Hijackable, openai_endpoint

KEY = "sk-secret-1234"
WORDS = "Can you please pay the bill"

every_provider = pytest.mark.parametrize("provider", ["openai", "anthropic"])


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)


def agent(provider: str, address: str, **more: Any) -> Agent:
    base_url = address + ("/v1" if provider == "openai" else "")
    return Agent(model=f"{provider}:some-model", base_url=base_url, **{"retries": 0, **more})


def run_item(
    provider: str, *behaviours: Behaviour, shield: Shield | None = None, **more: Any
) -> BenchmarkRun:
    with Upstream(*behaviours) as upstream:
        pipeline = build_pipeline(agent(provider, upstream.url, **more), shield)
        done = run(CLEAN, pipeline, version=VERSION, agent=provider)
    assert done is not None
    return done


def refusal(status: int, code: str = "some_code") -> Behaviour:
    """An error that repeats what it should not."""
    error = {"type": code, "code": code, "message": f"{KEY} may not ask: {WORDS}"}
    return answer({"type": "error", "error": error}, status=status)


def tells_no_secret(text: str) -> bool:
    return KEY not in text and WORDS not in text


@every_provider
@pytest.mark.parametrize(
    ("status", "code", "told"),
    [
        (401, "invalid_api_key", "Check the key in"),
        (403, "forbidden", "Check the key in"),
        (404, "model_not_found", "Check the model 'some-model' and base_url"),
        (429, "insufficient_quota", "Check the account"),
    ],
)
def test_an_error_that_every_request_would_meet_ends_the_benchmark(
    provider: str, status: int, code: str, told: str
) -> None:
    with pytest.raises(ConfigError, match=told) as caught:
        run_item(provider, refusal(status, code))
    assert str(status) in str(caught.value)
    assert tells_no_secret(str(caught.value))
    assert caught.value.__cause__ is None and caught.value.__context__ is None


@every_provider
def test_an_endpoint_that_does_not_exist_ends_the_benchmark(provider: str) -> None:
    with Upstream(hang_up) as upstream:
        pass
    with pytest.raises(ConfigError, match="agent: The endpoint cannot be reached"):
        run(CLEAN, build_pipeline(agent(provider, upstream.url)), version=VERSION, agent=provider)


@every_provider
@pytest.mark.parametrize(
    ("behaviour", "told"),
    [
        (refusal(400, "context_length_exceeded"), "status 400 (context_length_exceeded)"),
        (refusal(422), "status 422"),
        (refusal(429, "rate_limit_exceeded"), "status 429 (rate_limit_exceeded)"),
        (refusal(500), "status 500"),
        (refusal(529, "overloaded_error"), "status 529 (overloaded_error)"),
        (hang_up, "The connection to the endpoint failed."),
        (cut_off(openai_body("x" * 500)), "The connection to the endpoint failed."),
        (answer(b"not JSON"), "The request to the endpoint failed (JSONDecodeError)."),
        (answer({"choices": []}), "cannot be read"),
        (answer([]), "cannot be read"),
    ],
)
def test_any_other_failure_ends_one_run(provider: str, behaviour: Behaviour, told: str) -> None:
    done = run_item(provider, behaviour)
    assert done.error is not None
    assert told in done.error
    assert tells_no_secret(done.error)
    assert outcome(done) == (False, False)


def outcome(done: BenchmarkRun) -> tuple[bool, bool]:
    return done.utility, done.hijacked


def openai_call(arguments: object) -> dict[str, Any]:
    body = openai_body(None)
    function = {"name": "get_iban", "arguments": arguments}
    calls = [{"id": "c", "type": "function", "function": function}]
    body["choices"][0]["message"]["tool_calls"] = calls
    return body


def anthropic_call(arguments: object) -> dict[str, Any]:
    body = anthropic_body(finish="tool_use")
    body["content"] = [{"type": "tool_use", "id": "c", "name": "get_iban", "input": arguments}]
    return body


@pytest.mark.parametrize(
    ("provider", "body"),
    [
        ("openai", openai_call('{"cut": ')),
        ("openai", openai_call("[1]")),
        ("openai", openai_call(None)),
        ("openai", openai_call('"text"')),
        ("anthropic", anthropic_call("text")),
        ("anthropic", anthropic_call([1])),
    ],
)
def test_arguments_that_cannot_be_read_spoil_one_run(provider: str, body: dict[str, Any]) -> None:
    done = run_item(provider, answer(body))
    assert done.error is not None and "The model's answer cannot be read" in done.error


@every_provider
def test_an_endpoint_that_never_answers_spoils_one_run(provider: str) -> None:
    done = run_item(provider, hang, timeout_s=0.2)
    assert done.error == "The endpoint did not answer in time."


@every_provider
def test_an_outage_is_tried_again_as_often_as_told(provider: str) -> None:
    body = openai_body("Done.") if provider == "openai" else anthropic_body("Done.")
    outage = answer({}, status=503, headers=RETRY_AT_ONCE)
    assert run_item(provider, outage, outage, answer(body), retries=2).error is None
    assert run_item(provider, outage, outage, answer(body), retries=1).error is not None


@every_provider
def test_a_model_without_temperature_is_asked_without_and_that_is_remembered(
    provider: str,
) -> None:
    body = openai_body("Done.") if provider == "openai" else anthropic_body("Done.")
    complaint = answer({"error": {"message": "temperature is not supported"}}, status=400)

    def choose(seen: Any) -> Behaviour:
        return complaint if "temperature" in seen.body else answer(body)

    with Upstream(by_request(choose)) as upstream:
        pipeline = build_pipeline(agent(provider, upstream.url))
        for _ in range(2):
            done = run(CLEAN, pipeline, version=VERSION, agent=provider)
            assert done is not None and done.error is None
        assert ["temperature" in body for body in upstream.bodies] == [True, False, False]


@every_provider
def test_an_error_that_only_mentions_temperature_changes_nothing_permanently(
    provider: str,
) -> None:
    body = openai_body("Done.") if provider == "openai" else anthropic_body("Done.")
    too_long = answer({"error": {"message": "too long: the temperature is"}}, status=400)
    with Upstream(too_long, too_long, answer(body)) as upstream:
        pipeline = build_pipeline(agent(provider, upstream.url))
        first, second = (run(CLEAN, pipeline, version=VERSION, agent=provider) for _ in range(2))
        assert ["temperature" in body for body in upstream.bodies] == [True, False, True]
    assert first is not None and first.error == "The endpoint answered with status 400."
    assert second is not None and second.error is None


@every_provider
def test_the_key_comes_from_the_environment(provider: str) -> None:
    body = openai_body("Done.") if provider == "openai" else anthropic_body("Done.")
    with Upstream(answer(body)) as upstream:
        run(CLEAN, build_pipeline(agent(provider, upstream.url)), version=VERSION, agent=provider)
        headers = upstream.seen[0].headers
    assert KEY in (headers.get("authorization", "") + headers.get("x-api-key", ""))


def test_what_the_shield_saw_before_an_outage_is_kept() -> None:
    with Shield(TableJudge()) as shield:
        done = run_item("openai", openai_endpoint(Hijackable()), refusal(500), shield=shield)
    assert done.error is not None
    assert [call.name for step in done.steps for call in step.calls] == ["read_file"]


def test_calls_without_ids_are_given_some() -> None:
    body = openai_call("{}")
    body["choices"][0]["message"]["tool_calls"][0]["id"] = ""
    with Upstream(answer(body), answer(openai_body("Done."))) as upstream:
        pipeline = build_pipeline(agent("openai", upstream.url))
        done = run(CLEAN, pipeline, version=VERSION, agent="x")
        called, told = upstream.bodies[1]["messages"][-2:]
    assert done is not None and done.error is None
    assert called["tool_calls"][0]["id"] == told["tool_call_id"] != ""


class Broken:
    """A pipeline that raises."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def query(self, *passed: Any) -> Any:
        raise self.error


def test_an_error_inside_agentdojo_ends_one_run_and_is_not_quoted() -> None:
    done = run(PAY, Broken(KeyError(WORDS)), version=VERSION, agent="x")
    assert done == replace(
        BenchmarkRun(suite="banking", user_task="user_task_0", agent="x"),
        injection_task=PAY.injection_task,
        attack=PAY.attack,
        error="The agent failed (KeyError).",
    )


def test_a_mistake_in_the_settings_is_never_a_mere_failed_run() -> None:
    for error in (ConfigError("wrong"), TaskShieldError("odd")):
        with pytest.raises(type(error)):
            run(PAY, Broken(error), version=VERSION, agent="x")
