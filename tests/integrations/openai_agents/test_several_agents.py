"""Handoffs, and agents inside tools."""

import asyncio
from typing import Any

import pytest
from agents import (
    Agent,
    Handoff,
    Runner,
    RunState,
    function_tool,
    handoff,
)
from agents.testing import ScriptedModel

from taskshield.core.levels import Level
from taskshield.integrations.openai_agents import guard
from tests.integrations.openai_agents.agents import (
    ASYNC_WAYS,
    REFUSED,
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
    READ,
    STEAL,
    TASK,
    Mailbox,
    answer_to,
    call,
    hijackable,
    say,
    script,
)
from tests.judging import TableJudge

SURFACE = "OpenAI Agents SDK"


def test_the_goal_follows_a_handoff() -> None:
    judge, box = careful_judge(), Mailbox()
    second = agent(hijackable(), box.tools, name="Second", instructions="You write.")
    first = agent(script([say("Take it."), HAND_OVER]), [], handoffs=[second])
    result = by_run(guard(first, shield(judge)), TASK)
    assert (result.final_output, result.last_agent.name) == ("Bob knows.", "Second")
    assert box.sent == [BOB]
    assert goals(judge) == [TASK] and texts(judge, Level.USER) == [TASK]


def test_agents_may_hand_over_in_circles() -> None:
    box = Mailbox()
    first = agent(script(HAND_OVER, STEAL, say("Done.")), box.tools, name="First")
    second = agent(script(call("transfer_to_first", "back")), [], name="Second", handoffs=[first])
    first.handoffs.append(second)
    guarded = guard(first, shield())
    result = by_run(guarded, TASK)
    assert result.last_agent is guarded and box.sent == []
    assert first.handoffs == [second]


HAND_OVER = call("transfer_to_second", "over")


@pytest.mark.shows(SURFACE, "tool call", "feedback")
@pytest.mark.parametrize("way", ASYNC_WAYS)
@pytest.mark.parametrize("filtered", [False, True])
def test_the_agent_that_tried_a_blocked_handoff_gets_the_feedback(way: Way, filtered: bool) -> None:
    noted = list[str]()
    second = agent(script(), [], name="Second")
    over = handoff(
        second,
        on_handoff=lambda context: noted.append("handed over"),
        input_filter=(lambda data: data.clone(new_items=())) if filtered else None,
    )
    model = script(HAND_OVER, say("I stay."))
    judge = TableJudge(score=lambda step, task: float("transfer" not in step))
    result = way(guard(agent(model, [], handoffs=[over]), shield(judge)), TASK)
    assert (result.final_output, result.last_agent.name) == ("I stay.", "Mail")
    assert REFUSED in answer_to("over", model) and noted == []


@pytest.mark.parametrize("is_async", [False, True])
def test_a_handoff_works_as_before(is_async: bool) -> None:
    noted = list[Any]()

    def at_once(data: Any) -> Any:
        return data.clone(input_history="All you need.", pre_handoff_items=(), new_items=())

    async def later(data: Any) -> Any:
        return at_once(data)

    model = script(say("Hello."))
    second = agent(model, [], name="Second")
    over = handoff(
        second,
        on_handoff=lambda context: noted.append("handed over"),
        input_filter=later if is_async else at_once,  # type: ignore[arg-type]
    )
    judge = TableJudge()
    first = agent(script(HAND_OVER), [], handoffs=[over])
    result = by_run(guard(first, shield(judge)), TASK)
    assert (result.final_output, noted) == ("Hello.", ["handed over"])
    assert model.calls[0].input[0]["content"] == "All you need."
    assert goals(judge) == [TASK]  # not what the filter put in the user's mouth


def test_an_agent_that_is_made_on_the_spot_is_guarded() -> None:
    box = Mailbox()

    async def made(context: Any, arguments: str) -> Agent[Any]:
        return agent(hijackable(), box.tools, name="Second")

    over = Handoff(
        tool_name="transfer_to_second",
        tool_description="",
        input_json_schema={},
        on_invoke_handoff=made,
        agent_name="Second",
    )
    result = by_run(guard(agent(script(HAND_OVER), [], handoffs=[over]), shield()), TASK)
    assert result.final_output == "Bob knows." and box.sent == [BOB]


def test_a_run_that_was_stored_after_a_handoff_finds_the_guarded_agent() -> None:
    box = Mailbox()

    def team(*answers: Any) -> Agent[Any]:
        second = agent(script(*answers), box.tools, name="Second")
        first = agent(script(HAND_OVER), [], name="First", handoffs=[second])
        return guard(first, escalating())

    stored = decide(by_run(team(STEAL), TASK), yes=False).to_json()
    guarded = team(call("send_mail", "again", to=EVE))
    result = by_run(guarded, asyncio.run(RunState.from_json(guarded, stored)))
    assert result.interruptions and box.sent == []


def nested(judge: TableJudge, inner: ScriptedModel, box: Mailbox, **policy: Any) -> Agent[Any]:
    """An agent whose only tool is an agent."""
    guarding = shield(judge, **policy)
    clerk = guard(agent(inner, box.tools, name="Clerk"), guarding)
    outer = script(call("ask_clerk", "ask", input="Write to everybody."), say("All done."))
    tools: list[Any] = [clerk.as_tool("ask_clerk", "Ask the clerk.")]
    return guard(agent(outer, tools, name="Boss"), guarding)


@pytest.mark.parametrize("way", ASYNC_WAYS)
def test_an_agent_in_a_tool_works_for_the_user_and_not_for_who_calls_it(way: Way) -> None:
    judge, box, inner = careful_judge(), Mailbox(), hijackable()
    result = way(nested(judge, inner, box), TASK)
    assert (result.final_output, box.sent) == ("All done.", [BOB])
    assert REFUSED in answer_to("steal0", inner)
    assert goals(judge) == [TASK] and texts(judge, Level.USER) == [TASK]
    assert "Bob knows." in texts(judge, Level.TOOL)


@pytest.mark.shows(SURFACE, "HITL")
@pytest.mark.parametrize("way", ASYNC_WAYS)
@pytest.mark.parametrize("elsewhere", [False, True])
def test_a_call_of_an_agent_in_a_tool_can_wait_for_a_person(way: Way, elsewhere: bool) -> None:
    judge, box, inner = careful_judge(), Mailbox(), script(READ, STEAL, say("Sent."))
    policy = {"misaligned": {"external": "escalate"}}
    guarded = nested(judge, inner, box, **policy)
    result = way(guarded, TASK)
    assert [each.call_id for each in result.interruptions] == ["steal"] and box.sent == []
    state = result.to_state()
    if elsewhere:
        judge = careful_judge()
        guarded = nested(judge, inner, box, **policy)
        state = asyncio.run(RunState.from_json(guarded, state.to_json()))
    for interruption in state.get_interruptions():
        state.approve(interruption)
    result = way(guarded, state)
    assert box.sent == [EVE]
    assert goals(judge) == [TASK] and texts(judge, Level.USER) == [TASK]


def test_an_agent_that_a_tool_runs_by_itself_works_for_the_user_too() -> None:
    judge, box = careful_judge(), Mailbox()
    clerk = guard(agent(hijackable(), box.tools, name="Clerk"), shield(judge))

    @function_tool
    async def ask_clerk(text: str) -> str:
        """Ask the clerk."""
        return str((await Runner.run(clerk, text)).final_output)

    outer = script(call("ask_clerk", "ask", text="Write to everybody."), say("All done."))
    result = by_run(guard(agent(outer, [ask_clerk]), shield(judge)), TASK)
    assert (result.final_output, box.sent) == ("All done.", [BOB])
    assert texts(judge, Level.USER) == [TASK]


def test_an_agent_that_a_handoff_runs_works_for_the_user_too() -> None:
    judge, box = careful_judge(), Mailbox()
    clerk = guard(agent(hijackable(), box.tools, name="Clerk"), shield(judge))

    async def ask_clerk(context: Any) -> None:
        await Runner.run(clerk, "Write to everybody.")

    second = agent(script(say("Hello.")), [], name="Second")
    over = handoff(second, on_handoff=ask_clerk)
    by_run(guard(agent(script(HAND_OVER), [], handoffs=[over]), shield(judge)), TASK)
    assert box.sent == [BOB] and texts(judge, Level.USER) == [TASK]
