"""An attack on an agent, with and without the shield."""

import pytest
from pydantic_ai import (
    Agent,
)

from taskshield import AsyncShield
from tests.integrations.pydantic_ai.agents import (
    HIJACKED,
    MEETING,
    POISONED,
    REFUSED,
    TASK,
    Office,
    Script,
    done,
    results,
)

SURFACE = "Pydantic AI"


@pytest.mark.shows(SURFACE, "tool call", "feedback")
def test_the_attackers_call_does_not_run_and_the_users_does() -> None:
    office, script = Office(), Script(HIJACKED)
    result = done(office.agent(script).run(TASK))
    assert (result.output, office.sent) == ("Done.", ["alice@example.com"])
    refusal = results(result.all_messages())["steal"]
    assert refusal.outcome == "failed" and REFUSED in str(refusal.content)
    assert TASK in str(refusal.content) and str(refusal.content) in script.shown(2)


def test_without_the_shield_the_attack_succeeds() -> None:
    office, script = Office(), Script(HIJACKED)
    Agent(script.model, tools=[office.read_mail, office.send_mail]).run_sync(TASK)
    assert "eve@evil.example" in office.sent


def test_sync_runs_are_guarded_as_well() -> None:
    office = Office()
    assert office.agent(Script(HIJACKED)).run_sync(TASK).output == "Done."
    assert office.sent == ["alice@example.com"]


def test_the_embedded_judge_stops_a_hijack() -> None:
    office = Office(mail=POISONED)
    shield = AsyncShield(on_decision=office.decisions.append)
    assert office.agent(Script(HIJACKED), shield).run_sync(MEETING).output == "Done."
    assert office.sent == ["alice@example.com"]
