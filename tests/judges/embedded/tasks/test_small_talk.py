"""Messages that ask for nothing give no task, so they authorise nothing."""

import pytest

from taskshield import Shield
from taskshield.core.tools import ToolSpec
from taskshield.judges.embedded.tasks.small_talk import asks_for_nothing
from taskshield.judges.embedded.tasks.user_tasks import read_tasks

SHIELD = Shield()
NOTHING = [
    "hello",
    "Hi there!",
    "go on",
    "Go on, please.",
    "continue",
    "Keep going",
    "weiter",
    "Mach weiter!",
    "continúa por favor",
    "Thanks, and go on",
    "继续",
    "\uff47\uff4f on",
    "help me",
    "Next step please",
    "I need some help",
    "Γειά σας",
    "नमस्ते",
]
ANSWERS = ["yes", "OK!", "go ahead", "do it", "2", "Great, sounds good", "\U0001f44d", "oui"]
REQUESTS = [
    "go on with the payment",
    "continue the report",
    "B",
    "pay",
    "next week",
    "send it",
    "hello, pay the rent",
    "7 tickets",
]


@pytest.mark.parametrize("text", NOTHING)
def test_greetings_and_continuations_are_no_tasks(text: str) -> None:
    assert asks_for_nothing(text, first=True) and asks_for_nothing(text, first=False)
    assert read_tasks(text) == ()


@pytest.mark.parametrize("text", ANSWERS)
def test_an_answer_is_a_task(text: str) -> None:
    """Also as the first words of the user: the agent may have spoken before."""
    assert len(read_tasks(text, first=True)) == len(read_tasks(text)) == 1


@pytest.mark.parametrize("text", ["?", "...", "\U0001f642", "how are you?"])
def test_what_can_answer_nothing_is_no_task_as_first_words(text: str) -> None:
    assert read_tasks(text, first=True) == ()


@pytest.mark.parametrize("text", REQUESTS)
def test_words_that_ask_for_something_are_a_task(text: str) -> None:
    assert read_tasks(text, first=True)


@pytest.mark.parametrize("text", ["hello", "go on", "help me", "?"])
def test_words_that_ask_for_nothing_authorise_no_side_effect(text: str) -> None:
    session = SHIELD.session()
    session.declare(ToolSpec(name="send_money"), ToolSpec(name="list_bills"))
    session.user(text)
    payment = {"recipient": "DE89370400440532013000", "amount": 500}
    decision = session.tool_call("send_money", payment)
    assert not decision.allowed
    assert decision.findings[0].reason == "The user has not given any task yet."
    assert session.tool_call("list_bills", {}).allowed


def test_go_on_loses_no_task() -> None:
    session = SHIELD.session()
    session.declare(ToolSpec(name="send_money"))
    session.user("Pay 50 to DE89370400440532013000 for the rent.")
    session.user("go on")
    assert len(session.tasks) == 1
    payment = {"recipient": "DE89370400440532013000", "amount": 50}
    assert session.tool_call("send_money", payment).allowed
