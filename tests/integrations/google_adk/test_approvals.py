"""Calls that wait for a person."""

import asyncio
from collections.abc import Sequence

import pytest
from google.adk.events.event import Event
from google.adk.tools.function_tool import FunctionTool
from google.genai import types

from tests.integrations.google_adk.agents import (
    HIJACKED,
    READ,
    REFUSED,
    REPLY,
    STEAL,
    TASK,
    Office,
    Script,
    careful_judge,
    says,
    talk,
    text_of,
)

SURFACE = "Google ADK"
# ADK builds its own inner runners with an argument that it calls deprecated.
pytestmark = pytest.mark.filterwarnings("ignore:The `plugins` argument:DeprecationWarning")


def confirmation(events: Sequence[Event], confirmed: bool) -> types.Part:
    """The answer to the question that the events end with."""
    calls = [each for event in events for each in event.get_function_calls()]
    (asked,) = [each for each in calls if each.name == "adk_request_confirmation"]
    assert asked.args is not None and REFUSED in asked.args["toolConfirmation"]["hint"]
    answer = types.FunctionResponse(id=asked.id, name=asked.name, response={"confirmed": confirmed})
    return types.Part(function_response=answer)


@pytest.mark.shows(SURFACE, "HITL", "feedback")
@pytest.mark.parametrize("confirmed", [True, False])
def test_an_escalated_call_waits_for_a_person(confirmed: bool) -> None:
    office = Office()
    shield = office.shield(tools={"send_mail": "escalate"})

    async def work() -> str:
        script = Script([[READ], [STEAL, REPLY]])
        asked = await talk(office.runner(office.agent(script), shield), TASK)
        assert office.sent == ["alice@example.com"]
        script = Script([[STEAL], [says("Done.")]])
        runner = office.runner(office.agent(script), shield)  # another process
        again = await talk(runner, confirmation(asked, confirmed))
        confirmation(again, confirmed)  # the same call needs a new approval
        return script.heard[0]

    shown = asyncio.run(work())
    assert office.sent == ["alice@example.com", *(["eve@evil.example"] if confirmed else [])]
    assert ("A person has rejected this call." in shown) != confirmed
    approved = [finding.approved for each in office.decisions for finding in each.findings]
    assert any(approved) == confirmed


def test_a_person_is_not_asked_to_confirm_what_does_not_serve_the_user() -> None:
    office = Office()
    tools = [FunctionTool(office.send_mail, require_confirmation=True)]

    async def work() -> str:
        script = Script([[STEAL, REPLY]])
        events = await talk(office.runner(office.agent(script, tools=tools)), TASK)
        calls = [each for event in events for each in event.get_function_calls()]
        (asked,) = [each for each in calls if each.name == "adk_request_confirmation"]
        assert asked.args is not None
        assert asked.args["originalFunctionCall"]["args"]["to"] == "alice@example.com"
        response = {"confirmed": True}
        answer = types.FunctionResponse(id=asked.id, name=asked.name, response=response)
        script = Script([[says("Done.")]])
        runner = office.runner(office.agent(script, tools=tools))
        return text_of(await talk(runner, types.Part(function_response=answer)))

    assert asyncio.run(work()) == "Done." and office.sent == ["alice@example.com"]


@pytest.mark.shows(SURFACE, "tool call")
def test_an_outage_of_the_judge_lets_no_side_effect_through() -> None:
    office, script = Office(), Script(HIJACKED)
    shield = office.shield(careful_judge(error=OSError()))
    events = asyncio.run(talk(office.runner(office.agent(script), shield), TASK))
    assert (text_of(events), office.sent) == ("Done.", [])
    assert "could not be checked" in script.heard[1]
