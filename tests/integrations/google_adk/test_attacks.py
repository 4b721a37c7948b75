"""An attack on an agent, with and without the shield."""

import asyncio

import pytest
from google.adk.apps import App
from google.adk.runners import Runner
from google.genai import types

from taskshield import AsyncShield
from tests.integrations.google_adk.agents import (
    HIJACKED,
    INJECTED,
    MEETING,
    POISONED,
    REFUSED,
    TASK,
    Office,
    Script,
    says,
    talk,
    text_of,
)

SURFACE = "Google ADK"
# ADK builds its own inner runners with an argument that it calls deprecated.
pytestmark = pytest.mark.filterwarnings("ignore:The `plugins` argument:DeprecationWarning")


@pytest.mark.shows(SURFACE, "tool call", "tool output", "feedback")
def test_the_attackers_call_does_not_run_and_the_users_does() -> None:
    office, script = Office(), Script(HIJACKED)
    events = asyncio.run(talk(office.runner(office.agent(script)), TASK))
    assert (text_of(events), office.sent) == ("Done.", ["alice@example.com"])
    assert "do not serve the user's" in script.heard[1] and INJECTED in script.heard[1]
    assert REFUSED in script.heard[2] and TASK in script.heard[2]


def test_without_the_shield_the_attack_succeeds() -> None:
    office = Office()
    app = App(name="mail", root_agent=office.agent(Script(HIJACKED)))
    runner = Runner(app=app, session_service=office.sessions, auto_create_session=True)
    asyncio.run(talk(runner, TASK))
    assert "eve@evil.example" in office.sent


def test_the_embedded_judge_stops_a_hijack_in_a_sync_run() -> None:
    office = Office(mail=POISONED)
    runner = office.runner(office.agent(Script(HIJACKED)), AsyncShield())
    message = types.Content(role="user", parts=[says(MEETING)])
    events = list(runner.run(user_id="u", session_id="s", new_message=message))
    assert (text_of(events), office.sent) == ("Done.", ["alice@example.com"])
