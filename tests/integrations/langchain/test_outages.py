"""Failures of the judge and of the shield."""

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import (
    AIMessage,
)
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from taskshield.core.errors import WireFormatError
from taskshield.integrations.langchain import ShieldMiddleware
from tests.integrations.langchain.agents import (
    MAIL,
    MODES,
    TO_BOB,
    Mailbox,
    answers,
    asked,
    hijacked,
    thread,
)
from tests.integrations.langchain.scripted_model import ScriptedModel, call, calling, saying
from tests.integrations.shields import Guard
from tests.judging import TableJudge

SURFACE = "LangChain"


@pytest.mark.shows(SURFACE, "tool call")
@pytest.mark.parametrize("mode", MODES)
def test_calls_with_side_effects_do_not_run_without_a_judge(guard: Guard, mode: Any) -> None:
    box = Mailbox()
    step = calling(TO_BOB, call("read_mail", id="read"))
    model = ScriptedModel(script=saying(step, AIMessage("Done.")))
    broken = TableJudge(error=RuntimeError("the judge is gone: secret"))
    agent = create_agent(model, box.tools, middleware=[ShieldMiddleware(guard(broken))])
    messages = mode(agent, asked())
    assert box.sent == []
    assert "could not be made" in answers(messages)["bob"].text
    assert answers(messages)["read"].text.startswith(MAIL)  # reading goes on, with a note
    assert "could not be checked" in answers(messages)["read"].text
    assert "secret" not in str(messages)


def test_a_person_can_approve_a_call_that_could_not_be_checked(guard: Guard) -> None:
    box = Mailbox()
    model = ScriptedModel(script=saying(calling(TO_BOB), AIMessage("Done.")))
    broken = TableJudge(error=RuntimeError("gone"))
    shield = ShieldMiddleware[Any, Any](guard(broken, outage={"external": "escalate"}))
    agent = create_agent(model, box.tools, middleware=[shield], checkpointer=InMemorySaver())
    agent.invoke(asked(), thread())
    assert box.sent == []
    agent.invoke(Command(resume={"type": "approve"}), thread())
    assert box.sent == ["bob@example.com"]


def test_a_shield_that_raises_ends_the_run_before_any_tool(guard: Guard) -> None:
    box = Mailbox()
    model = ScriptedModel(script=hijacked)
    agent = create_agent(
        model, box.tools, middleware=[ShieldMiddleware(guard())], checkpointer=InMemorySaver()
    )
    agent.invoke(asked(), thread())
    agent.update_state(thread(), {"taskshield": "{}"})
    with pytest.raises(WireFormatError, match="session"):
        agent.invoke(asked(), thread())
    assert box.sent == ["bob@example.com"]
