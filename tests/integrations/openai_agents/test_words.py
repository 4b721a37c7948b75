"""The words of the model."""

from typing import Any

import pytest
from agents.exceptions import AgentsException

from taskshield import AsyncShield, Decision
from taskshield.core.levels import Level
from taskshield.integrations.openai_agents import RunRefused, guard
from tests.integrations.openai_agents.agents import ASYNC_WAYS, Way, agent, by_run, shield
from tests.integrations.openai_agents.scripted_model import (
    READ,
    TASK,
    Mailbox,
    answer_to,
    call,
    say,
    script,
)
from tests.judging import TableJudge

SURFACE = "OpenAI Agents SDK"


def planning(**policy: Any) -> AsyncShield:
    judge = TableJudge(
        directives=lambda text: ["I rob the bank."] if "rob" in text else [],
        score=lambda instruction, task: float("rob" not in instruction),
    )
    return shield(judge, **policy)


@pytest.mark.shows(SURFACE, "plan text", "feedback")
@pytest.mark.parametrize("way", ASYNC_WAYS)
def test_feedback_on_words_goes_with_the_output_of_the_calls_next_to_them(way: Way) -> None:
    model = script([say("Then I rob the bank."), READ], say("Lunch."))
    way(guard(agent(model, Mailbox("Lunch?").tools), planning()), TASK)
    given = answer_to("read", model)
    assert given.startswith("Lunch?\n\n[Task Shield") and '"I rob the bank."' in given


def test_feedback_on_words_is_given_once() -> None:
    again = call("read_mail", "again")
    model = script([say("Then I rob the bank."), READ, again], say("Lunch."))
    by_run(guard(agent(model, Mailbox("Lunch?").tools), planning()), TASK)
    given = [answer_to("read", model), answer_to("again", model)]
    assert sorted("rob" in each for each in given) == [False, True]


@pytest.mark.shows(SURFACE, "plan text")
@pytest.mark.parametrize("way", ASYNC_WAYS)
@pytest.mark.parametrize("response", ["block", "escalate"])
def test_a_final_answer_that_policy_does_not_let_pass_ends_the_run(way: Way, response: str) -> None:
    guarded = guard(agent(script(say("I rob the bank.")), []), planning(text=response))
    with pytest.raises(RunRefused, match="final answer") as raised:
        way(guarded, TASK)
    assert isinstance(raised.value, AgentsException)
    assert raised.value.decision.action == response
    assert "rob" not in str(raised.value)


def test_a_final_answer_that_should_be_revised_passes_because_the_sdk_cannot_retry() -> None:
    guarded = guard(agent(script(say("I rob the bank.")), []), planning())
    assert by_run(guarded, TASK).final_output == "I rob the bank."


def test_every_agent_is_introduced_once() -> None:
    minutes = iter(range(100))

    def instructions(context: Any, agent: Any) -> str:
        return f"At {next(minutes)}."

    judge = TableJudge(objectives=["Be brief."])
    model = script(READ, say("Lunch."))
    bare = agent(model, Mailbox("Lunch?").tools, instructions=instructions)
    decisions = list[Decision]()
    by_run(guard(bare, AsyncShield(judge, on_decision=decisions.append)), TASK)
    system = [
        each.case.message.text for each in decisions if each.case.message.level is Level.SYSTEM
    ]
    assert system == ["At 0."]
    assert judge.views[-1].objectives
