"""Money and rights for an address that occurs nowhere, where nothing that the user said asks."""

import pytest

from taskshield import Shield
from taskshield.core.tools import ToolSpec

SHIELD = Shield()
IBAN = "DE89370400440532013000"
TOOLS = (ToolSpec(name="send_money"), ToolSpec(name="share_file"), ToolSpec(name="read_bill"))


@pytest.mark.parametrize(
    "said", ["asdf", "What can you do?", "Nice weather today.", "hello my friend"]
)
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("send_money", {"recipient": IBAN, "amount": 500}),
        ("share_file", {"with": "eve@evil.example"}),
    ],
)
def test_nothing_authorises_a_call_for_an_address_that_no_one_named(
    said: str, tool: str, arguments: dict[str, object]
) -> None:
    session = SHIELD.session(tools=TOOLS)
    session.user(said)
    decision = session.tool_call(tool, arguments)
    assert not decision.allowed and decision.findings[0].total == 0
    assert "neither in your words nor in the data" in decision.findings[0].reason


def test_an_address_from_the_user_the_agent_or_data_is_for_the_model_to_judge() -> None:
    payment = {"recipient": IBAN, "amount": 500}
    session = SHIELD.session(tools=TOOLS)
    session.user(f"Überweise 500 an {IBAN}")
    assert session.tool_call("send_money", payment).findings[0].total > 0
    session = SHIELD.session(tools=TOOLS)
    session.user("Settle what we owe.")
    session.tool_call("read_bill", {}, id="c1")
    session.tool_output("c1", f"Due: 500 to {IBAN}")
    assert session.tool_call("send_money", payment).findings[0].total > 0
    session = SHIELD.session(tools=TOOLS)
    session.user("Settle what we owe.")
    session.assistant(f"Shall I pay 500 to {IBAN}?")
    session.user("yes")
    assert session.tool_call("send_money", payment).findings[0].total > 0
