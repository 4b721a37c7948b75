"""AgentDojo's messages over Anthropic's wire: two speakers in turn, and no empty words."""

from typing import Any

from agentdojo.functions_runtime import FunctionCall, FunctionsRuntime

from taskshield_lab.bench.run.live import run
from taskshield_lab.bench.run.pipelines import Agent, build_pipeline
from tests.clients.upstream import Upstream, answer, anthropic_body
from tests.lab.bench.hijackable import PAY, VERSION, Hijackable, anthropic_endpoint


def agent(upstream: Upstream, **more: Any) -> Agent:
    return Agent(model="anthropic:some-model", base_url=upstream.url, retries=0, **more)


def message(role: str, text: str, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": [{"type": "text", "content": text}], **more}


def test_the_speakers_take_turns_whatever_agentdojo_adds() -> None:
    with Upstream(anthropic_endpoint(Hijackable())) as upstream:
        pipeline = build_pipeline(agent(upstream, defence="repeat_user_prompt"))
        done = run(PAY, pipeline, version=VERSION, agent="x")
        turns = upstream.bodies[-1]["messages"]
    assert done is not None and (done.error, done.utility) == (None, True)
    assert [turn["role"] for turn in turns] == ["user", *["assistant", "user"] * 3]
    assert [block["type"] for block in turns[2]["content"]] == ["tool_result", "text"]


def test_what_was_said_without_words_is_left_out() -> None:
    call = FunctionCall(function="look", args={"at": "it"}, id="c1")
    told = [
        message("user", "Look."),
        message("assistant", "", tool_calls=None),
        message("user", "Look again."),
        {"role": "assistant", "content": None, "tool_calls": [call]},
        message("tool", "", tool_call=call, tool_call_id="c1", error=None),
        {"role": "assistant", "content": None, "tool_calls": [call]},
        message("tool", "", tool_call=call, tool_call_id="c1", error="It is gone."),
    ]
    with Upstream(answer(anthropic_body("I see."))) as upstream:
        llm = build_pipeline(agent(upstream)).elements[2]
        passed = llm.query("Look.", FunctionsRuntime([]), None, told)
        body = upstream.bodies[0]
    assert passed[3][-1] == message("assistant", "I see.", tool_calls=None)
    assert "tools" not in body and "system" not in body
    assert body["messages"][0]["content"] == [
        {"type": "text", "text": "Look."},
        {"type": "text", "text": "Look again."},
    ]
    empty, failed = (turn["content"][0] for turn in body["messages"][2::2])
    assert (empty["content"], empty["is_error"]) == ([], False)
    assert (failed["content"][0]["text"], failed["is_error"]) == ("It is gone.", True)


def test_a_call_that_may_be_cut_off_is_not_made() -> None:
    body = anthropic_body("I will", finish="max_tokens")
    body["content"].append({"type": "tool_use", "id": "c", "name": "get_iban", "input": {}})
    with Upstream(answer(body)) as upstream:
        done = run(PAY, build_pipeline(agent(upstream)), version=VERSION, agent="x")
    assert done is not None and done.error is None
    assert [step.calls for step in done.steps] == [(), ()]
