"""An equal second payment is one that no one asked for, unless the first failed."""

import pytest

from taskshield import Session, Shield
from taskshield.core.messages import ToolCall
from taskshield.core.tools import ToolSpec

SHIELD = Shield()
ASKED = "Send 50 to DE89370400440532013000 for the rent."
PAYMENT = {"recipient": "DE89370400440532013000", "amount": 50, "subject": "rent"}


def paid(asked: str = ASKED, output: str = "Transaction sent.", *, failed: bool = False) -> Session:
    session = SHIELD.session(tools=[ToolSpec(name="send_money"), ToolSpec(name="add_note")])
    session.user(asked)
    assert session.tool_call("send_money", PAYMENT, id="c1").allowed
    session.tool_output("c1", output, is_error=failed)
    return session


def test_a_payment_that_was_made_is_not_made_again() -> None:
    session = paid()
    decision = session.tool_call("send_money", PAYMENT)
    assert not decision.allowed
    assert decision.findings[0].reason == (
        "The same payment was made already, and no words of yours ask for another."
    )
    again = session.tool_call("send_money", {**PAYMENT, "urgent": True})
    assert not again.allowed and "was blocked before" in again.findings[0].reason
    session.user("Now send 50 to DE89370400440532013000 for the rent once more.")
    assert session.tool_call("send_money", PAYMENT).allowed


def test_the_second_of_two_equal_payments_side_by_side_is_one_too_many() -> None:
    session = SHIELD.session(tools=[ToolSpec(name="send_money")])
    session.user(ASKED)
    text = '{"recipient": "DE89370400440532013000", "amount": 50, "subject": "rent"}'
    calls = [ToolCall(id=id, name="send_money", arguments=text) for id in "ab"]
    decision = session.assistant("", calls)
    assert [one.allowed for one in decision.calls] == [True, False]


@pytest.mark.parametrize(
    "session",
    [
        paid(output="Error: the bank is not available"),
        paid(output="", failed=True),
        paid(ASKED + " Do it twice."),
        paid(ASKED + " I owe him for 3 months."),
    ],
)
def test_a_payment_that_failed_or_that_was_asked_for_several_times_may_be_made_again(
    session: Session,
) -> None:
    assert session.tool_call("send_money", PAYMENT).allowed


def test_other_calls_may_be_repeated() -> None:
    session = paid()
    assert session.tool_call("send_money", {**PAYMENT, "subject": "water"}).findings[0].total > 0
    session.user("Add the note x")
    for id in ("n1", "n2"):
        assert session.tool_call("add_note", {"text": "x", "n": 1}, id=id).allowed
        session.tool_output(id, "Added.")
