"""Calls that wait for a person."""

import asyncio
import json
from typing import Any

import pytest
from agents import (
    RunConfig,
    RunState,
    tool_namespace,
)
from agents.run_config import ToolExecutionConfig
from agents.testing import function_call

from taskshield.core.levels import Level
from taskshield.integrations.openai_agents import guard
from taskshield.integrations.openai_agents.approvals import Approvals
from tests.integrations.openai_agents.agents import (
    ASYNC_WAYS,
    REFUSED,
    WAYS,
    Way,
    agent,
    by_run,
    careful_judge,
    decide,
    escalating,
    goals,
    shield,
    texts,
)
from tests.integrations.openai_agents.scripted_model import (
    BOB,
    EVE,
    INJECTED,
    READ,
    REPLY,
    STEAL,
    TASK,
    Mailbox,
    answer_to,
    call,
    say,
    script,
)

SURFACE = "OpenAI Agents SDK"


@pytest.mark.shows(SURFACE, "HITL")
@pytest.mark.parametrize("way", WAYS)
def test_an_escalated_call_waits_for_a_person_and_runs_once_approved(way: Way) -> None:
    box, model = Mailbox(), script(READ, [STEAL, REPLY], say("Done."))
    guarded = guard(agent(model, box.tools), escalating())
    result = way(guarded, TASK)
    assert [each.call_id for each in result.interruptions] == ["steal"]
    assert box.sent == [BOB]
    result = way(guarded, decide(result, yes=True))
    assert (result.final_output, box.sent) == ("Done.", [BOB, EVE])
    assert answer_to("steal", model) == f"sent to {EVE}"


def test_a_tool_in_a_namespace_can_wait_for_a_person() -> None:
    def post(id: str, to: str) -> Any:
        return function_call("send_mail", {"to": to}, call_id=id, namespace="post")

    box, model = Mailbox(), script([post("steal", EVE), post("reply", BOB)], say("Done."))
    tools = tool_namespace(name="post", description="Post.", tools=[box.send])
    guarded = guard(agent(model, list(tools)), escalating())
    result = by_run(guarded, TASK)
    assert [each.call_id for each in result.interruptions] == ["steal"] and box.sent == [BOB]
    by_run(guarded, decide(result, yes=True))
    assert box.sent == [BOB, EVE]


@pytest.mark.shows(SURFACE, "HITL", "feedback")
@pytest.mark.parametrize("way", ASYNC_WAYS)
def test_the_model_gets_a_rejection(way: Way) -> None:
    box, model = Mailbox(), script(READ, STEAL, REPLY, say("Done."))
    guarded = guard(agent(model, box.tools), escalating())
    result = way(guarded, decide(way(guarded, TASK), yes=False))
    assert (result.final_output, box.sent) == ("Done.", [BOB])
    assert "not approved" in answer_to("steal", model)


@pytest.mark.shows(SURFACE, "HITL")
@pytest.mark.parametrize("always", [False, True])
def test_an_approval_is_for_one_call(always: bool) -> None:
    again = call("send_mail", "again", to=EVE)
    box, model = Mailbox(), script(READ, STEAL, again, say("Done."))
    guarded = guard(agent(model, box.tools), escalating())
    result = by_run(guarded, decide(by_run(guarded, TASK), yes=True, always=always))
    assert box.sent == [EVE]
    if always:  # the SDK does not ask any more, so the call is blocked
        assert REFUSED in answer_to("again", model) and result.final_output == "Done."
    else:
        assert [each.call_id for each in result.interruptions] == ["again"]


@pytest.mark.shows(SURFACE, "HITL")
@pytest.mark.parametrize("yes", [False, True])
def test_another_process_can_go_on_after_a_person_has_decided(yes: bool) -> None:
    box, judge = Mailbox(), careful_judge()
    first = by_run(guard(agent(script(READ, STEAL), box.tools), escalating()), TASK)
    stored = json.dumps(decide(first, yes=yes).to_json())
    model = script(call("send_mail", "more", to=EVE))
    guarded = guard(agent(model, box.tools), escalating(judge))
    state = asyncio.run(RunState.from_json(guarded, json.loads(stored)))
    result = by_run(guarded, state)
    assert box.sent == ([EVE] if yes else [])
    assert [each.call_id for each in result.interruptions] == ["more"]
    assert goals(judge) == [TASK]
    assert [item.instruction.text for item in judge.views[-1].tainted] == [INJECTED]
    assert texts(judge, Level.USER) == [TASK]


def test_an_escalated_call_without_an_answer_does_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Approvals, "apply", lambda approvals, tool: None)
    box, model = Mailbox(), script(STEAL, say("Done."))
    result = by_run(guard(agent(model, box.tools), escalating()), TASK)
    assert (result.final_output, box.sent) == ("Done.", [])
    assert REFUSED in answer_to("steal", model)


def test_guardrails_may_run_before_a_person_is_asked() -> None:
    early = RunConfig(
        tool_execution=ToolExecutionConfig(pre_approval_tool_input_guardrails=True),
    )
    box, model = Mailbox(), script(STEAL, say("Done."))
    guarded = guard(agent(model, box.tools), escalating())
    result = by_run(guarded, TASK, run_config=early)
    assert [each.call_id for each in result.interruptions] == ["steal"] and box.sent == []
    by_run(guarded, decide(result, yes=True), run_config=early)
    assert box.sent == [EVE]


async def to_bob(context: Any, arguments: dict[str, Any], call_id: str) -> bool:
    return bool(arguments["to"] == BOB)


@pytest.mark.parametrize("rule", [True, to_bob, lambda *args: True], ids=["all", "async", "sync"])
def test_a_tools_own_approval_is_kept_but_not_asked_for_a_blocked_call(
    rule: Any,
) -> None:
    box, model = Mailbox(), script([STEAL, REPLY], say("Done."))
    box.send.needs_approval = rule
    guarded = guard(agent(model, box.tools), shield())
    result = by_run(guarded, TASK)
    assert [each.call_id for each in result.interruptions] == ["reply"]
    by_run(guarded, decide(result, yes=True))
    assert box.sent == [BOB] and REFUSED in answer_to("steal", model)
