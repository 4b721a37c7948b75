"""Calls that wait for a person."""

import json
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    HumanInTheLoopMiddleware,
)
from langchain_core.messages import (
    AIMessage,
    ToolMessage,
)
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt
from pydantic import ValidationError

from taskshield.integrations.langchain import ShieldMiddleware
from tests.integrations.langchain.agents import (
    MODES,
    STREAMS,
    TASK,
    TO_BOB,
    TO_EVE,
    Agent,
    Mailbox,
    answers,
    asked,
    asking,
    thread,
)
from tests.integrations.langchain.scripted_model import ScriptedModel, call, calling, saying
from tests.integrations.shields import Guard

SURFACE = "LangChain"


def waiting(agent: Agent) -> list[Any]:
    return [each.value for each in agent.get_state(thread()).interrupts]


@pytest.mark.shows(SURFACE, "HITL")
@pytest.mark.parametrize("mode", [*MODES, *STREAMS])
def test_an_approved_call_runs_and_nothing_runs_or_counts_twice(guard: Guard, mode: Any) -> None:
    box = Mailbox()
    agent = asking(guard, calling(TO_EVE, TO_BOB), box=box)
    mode(agent, asked(), thread())
    assert box.sent == ["bob@example.com"]  # what is aligned does not wait
    (request,) = waiting(agent)
    assert request["type"] == "tool_approval" and request["tool_call_id"] == "eve"
    assert request["name"] == "send_mail" and request["args"] == {"to": "eve@example.com"}
    assert TASK in request["description"]
    messages = mode(agent, Command(resume={"type": "approve"}), thread())
    assert box.sent == ["bob@example.com", "eve@example.com"]
    assert answers(messages)["eve"].content == "sent to eve@example.com"
    assert messages[-1].text.strip() == "Done."
    session = json.loads(agent.get_state(thread()).values["taskshield"])["session"]
    # The user, the step, the approved call, two outputs, the answer.
    assert session["messages"] == 6 and session["counters"]["executed"] == 6


@pytest.mark.shows(SURFACE, "HITL", "feedback")
@pytest.mark.parametrize("mode", MODES)
def test_a_rejected_call_does_not_run_and_the_model_is_told(guard: Guard, mode: Any) -> None:
    box = Mailbox()
    agent = asking(guard, calling(TO_EVE), calling(TO_EVE), box=box)
    mode(agent, asked(), thread())
    mode(agent, Command(resume={"type": "reject", "message": "Never to Eve."}), thread())
    messages = mode(agent, Command(resume={"type": "reject"}), thread())
    assert box.sent == []
    rejections = [each for each in messages if isinstance(each, ToolMessage)]
    assert [each.status for each in rejections] == ["error", "error"]
    assert rejections[0].text.endswith("They said: Never to Eve.")
    assert rejections[1].text.endswith("It was not carried out.")
    judged = texts_kept(agent)
    assert "Never to Eve." not in judged  # a person's word is no tool's output


def texts_kept(agent: Agent) -> str:
    return str(agent.get_state(thread()).values["taskshield"])


@pytest.mark.shows(SURFACE, "HITL")
def test_an_approval_holds_once(guard: Guard) -> None:
    box = Mailbox()
    agent = asking(guard, calling(TO_EVE), calling({**TO_EVE, "id": "again"}), box=box)
    agent.invoke(asked(), thread())
    agent.invoke(Command(resume={"type": "approve"}), thread())
    assert box.sent == ["eve@example.com"]
    assert [request["tool_call_id"] for request in waiting(agent)] == ["again"]


@pytest.mark.parametrize("mode", MODES)
def test_a_tool_that_asks_a_person_itself_is_checked_once(guard: Guard, mode: Any) -> None:
    did: list[str] = []

    @tool
    def send_mail(to: str) -> str:
        """Send a mail, if a person agrees."""
        did.append(f"{to}: {interrupt('Really?')}")
        return "sent"

    box = Mailbox()
    box.tools = [send_mail]
    agent = asking(guard, calling(TO_EVE), box=box)
    mode(agent, asked(), thread())
    mode(agent, Command(resume={"type": "approve"}), thread())
    assert waiting(agent) == ["Really?"] and did == []
    mode(agent, Command(resume="yes"), thread())
    assert did == ["eve@example.com: yes"]
    session = json.loads(agent.get_state(thread()).values["taskshield"])["session"]
    assert session["messages"] == 5  # the user, the step, the approved call, its output, the answer


def test_several_calls_are_approved_one_by_one(guard: Guard) -> None:
    box = Mailbox()
    other = call("send_mail", to="other.eve@example.com", id="other")
    agent = asking(guard, calling(TO_EVE, other), box=box)
    agent.invoke(asked(), thread())
    pending = {each.value["tool_call_id"]: each.id for each in agent.get_state(thread()).interrupts}
    answer = {pending["eve"]: {"type": "reject"}, pending["other"]: {"type": "approve"}}
    agent.invoke(Command(resume=answer), thread())
    assert box.sent == ["other.eve@example.com"]


@pytest.mark.parametrize("answer", ["approve", {"type": "edit"}, {"type": "respond"}, True])
def test_an_invalid_answer_runs_nothing_and_can_be_repeated(guard: Guard, answer: Any) -> None:
    box = Mailbox()
    agent = asking(guard, calling(TO_EVE), box=box)
    agent.invoke(asked(), thread())
    with pytest.raises(ValidationError):
        agent.invoke(Command(resume=answer), thread())
    assert box.sent == []
    agent.invoke(Command(resume={"type": "approve"}), thread())
    assert box.sent == ["eve@example.com"]


def test_without_a_checkpointer_an_escalated_call_does_not_run(guard: Guard) -> None:
    box = Mailbox()
    model = ScriptedModel(script=saying(calling(TO_EVE)))
    shield = ShieldMiddleware[Any, Any](guard(tools={"send_mail": "escalate"}))
    result = create_agent(model, box.tools, middleware=[shield]).invoke(asked())
    assert box.sent == [] and result["__interrupt__"][0].value["name"] == "send_mail"


def test_a_call_that_others_changed_may_wait_for_a_person_too(guard: Guard) -> None:
    class Redirect(AgentMiddleware[Any, Any, Any]):
        def wrap_tool_call(self, request: Any, handler: Any) -> Any:
            changed = {**request.tool_call, "args": {"to": "eve@example.com"}}
            return handler(request.override(tool_call=changed))

    box = Mailbox()
    model = ScriptedModel(script=saying(calling(TO_BOB), AIMessage("Done.")))
    shield = ShieldMiddleware[Any, Any](guard(tools={"send_mail": "escalate"}))
    middleware: Any = [Redirect(), shield]
    agent = create_agent(model, box.tools, middleware=middleware, checkpointer=InMemorySaver())
    agent.invoke(asked(), thread())
    assert box.sent == []
    agent.invoke(Command(resume={"type": "approve"}), thread())
    assert box.sent == ["eve@example.com"]


def test_a_person_asked_by_langchain_may_still_edit_a_call(guard: Guard) -> None:
    box = Mailbox()
    model = ScriptedModel(script=saying(calling(TO_BOB), AIMessage("Done.")))
    people = HumanInTheLoopMiddleware({"send_mail": True}, interrupt_mode="per_call")
    middleware: Any = [ShieldMiddleware(guard()), people]
    agent = create_agent(model, box.tools, middleware=middleware, checkpointer=InMemorySaver())
    agent.invoke(asked(), thread())
    edited = {"name": "send_mail", "args": {"to": "carol@example.com"}}
    agent.invoke(Command(resume={"type": "edit", "edited_action": edited}), thread())
    assert box.sent == ["carol@example.com"]


def test_a_person_asked_by_langchain_cannot_undo_a_refusal(guard: Guard) -> None:
    box = Mailbox()
    model = ScriptedModel(script=saying(calling(TO_EVE, TO_BOB), AIMessage("Done.")))
    middleware: Any = [
        ShieldMiddleware(guard()),
        HumanInTheLoopMiddleware({"send_mail": True}),
    ]
    agent = create_agent(model, box.tools, middleware=middleware, checkpointer=InMemorySaver())
    agent.invoke(asked(), thread())
    agent.invoke(Command(resume={"decisions": [{"type": "approve"}] * 2}), thread())
    assert box.sent == ["bob@example.com"]
