"""Uses what docs/integrations/pydantic-ai.md defines, with a scripted model and a mailbox."""

from typing import Any

from pydantic_ai import ToolCallPart

from tests.integrations.pydantic_ai.agents import (
    HIJACKED,
    MEETING,
    POISONED,
    READ,
    STEAL,
    Office,
    Script,
    calls,
    says,
)


def guarded(names: dict[str, Any]) -> None:
    """The embedded judge blocks the attacker's call, and lets the user's pass."""
    office = Office(mail=POISONED)
    agent = names["guarded"](Script(HIJACKED).model, [office.read_mail, office.send_mail])
    assert agent.run_sync(MEETING).output == "Done."
    assert office.sent == ["alice@example.com"]


def asking(names: dict[str, Any]) -> None:
    """A misaligned call runs exactly if a person approves it."""
    for yes in (True, False):
        office, asked = Office(mail=POISONED), list[str]()

        def ask(call: ToolCallPart, yes: bool = yes, asked: list[str] = asked) -> bool:
            asked.append(call.tool_call_id)
            return yes

        model = Script([calls(READ), calls(STEAL), says("Done.")]).model
        tools = [office.read_mail, office.send_mail]
        assert names["work"](model, tools, MEETING, ask) == "Done."
        assert asked == ["steal"]
        assert office.sent == (["eve@evil.example"] if yes else [])
