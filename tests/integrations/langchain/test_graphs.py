"""Agents inside agents, and graphs without `create_agent`."""

from typing import Annotated, Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    HumanMessage,
    ToolMessage,
)
from langchain_core.tools import InjectedToolCallId, tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.message import add_messages
from langgraph.prebuilt import ToolNode
from langgraph.types import Command
from pydantic import BaseModel

from taskshield.core.levels import Level
from taskshield.integrations.langchain import ShieldMiddleware, ShieldState
from tests.integrations.langchain.agents import (
    INJECTED,
    MAIL,
    MODES,
    TASK,
    Agent,
    Mailbox,
    answers,
    asked,
    assert_guarded,
    careful_judge,
    hijacked,
    texts,
)
from tests.integrations.langchain.scripted_model import ScriptedModel, call, calling, saying
from tests.integrations.shields import Guard

SURFACE = "LangChain"


@pytest.mark.shows(SURFACE, "user turn")
@pytest.mark.parametrize("mode", MODES)
def test_an_agent_that_is_called_as_a_tool_works_for_the_users_tasks(
    guard: Guard, mode: Any
) -> None:
    judge, box = careful_judge(), Mailbox()
    shield = guard(judge)
    inner_model = ScriptedModel(script=hijacked)
    inner: Agent = create_agent(inner_model, box.tools, middleware=[ShieldMiddleware(shield)])

    @tool
    def assistant(query: str) -> str:
        """Let another agent work."""
        return str(inner.invoke(asked(query))["messages"][-1].text)

    query = 'Answer "Bob",\nplease.'
    step = calling(call("assistant", query=query), text="I will ask.")
    model = ScriptedModel(script=saying(step, AIMessage("Done.")))
    outer = create_agent(model, [assistant], middleware=[ShieldMiddleware(shield)])
    mode(outer, asked())
    assert box.sent == ["bob@example.com"]
    assert texts(judge, Level.USER) == [TASK]
    assert query not in texts(judge, Level.TOOL)  # it was checked as the argument of a call
    inner_views = [view for view in judge.views if "send_mail" in view.tools]
    assert all([task.text for task in view.tasks] == [TASK] for view in inner_views)


def test_input_of_an_agent_inside_a_tool_is_data(guard: Guard) -> None:
    judge = careful_judge()
    shield = guard(judge)
    inner_model = ScriptedModel(script=saying(AIMessage("A summary.")))
    inner: Agent = create_agent(inner_model, [], middleware=[ShieldMiddleware(shield)])

    @tool
    def summarise(name: str) -> str:
        """Summarise a page."""
        return str(inner.invoke(asked(f"Summarise {name}: {MAIL}"))["messages"][-1].text)

    model = ScriptedModel(script=saying(calling(call("summarise", name="a")), AIMessage("Done.")))
    create_agent(model, [summarise], middleware=[ShieldMiddleware(shield)]).invoke(asked())
    assert texts(judge, Level.USER) == [TASK]
    assert "do not serve the user's tasks" in inner_model.read


def test_an_agent_as_a_node_of_a_graph_reads_the_messages_of_the_graph(guard: Guard) -> None:
    judge, box = careful_judge(), Mailbox()

    def other(state: MessagesState) -> dict[str, Any]:
        return {"messages": [AIMessage(f"Somebody should: {INJECTED}", name="other")]}

    agent = create_agent(
        ScriptedModel(script=hijacked), box.tools, middleware=[ShieldMiddleware(guard(judge))]
    )
    builder = StateGraph(MessagesState)
    builder.add_node("other", other)
    builder.add_node("agent", agent)
    builder.add_edge(START, "other")
    builder.add_edge("other", "agent")
    graph = builder.compile()
    for _ in graph.stream(asked(), subgraphs=True, stream_mode="updates"):
        pass
    assert texts(judge, Level.USER) == [TASK]
    assert any(INJECTED in text for text in texts(judge, Level.ASSISTANT))
    assert "eve@example.com" not in box.sent


class Conversation(BaseModel):
    """A graph's state may be a model, too."""

    messages: Annotated[list[AnyMessage], add_messages]


@pytest.mark.shows(SURFACE, "tool call", "tool output")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("schema", [MessagesState, ShieldState, Conversation])
def test_a_graph_built_by_hand_needs_only_the_tool_node(
    guard: Guard, mode: Any, schema: Any
) -> None:
    box, shield = Mailbox(), ShieldMiddleware[Any, Any](guard())
    tools = ToolNode(
        box.tools, wrap_tool_call=shield.wrap_tool_call, awrap_tool_call=shield.awrap_tool_call
    )
    assert_guarded(tools, box, schema, mode)


def test_a_graph_whose_state_is_a_list_of_messages(guard: Guard) -> None:
    @tool
    def tell(tool_call_id: Annotated[str, InjectedToolCallId]) -> Command[Any]:
        """Give a command."""
        return Command(update=[ToolMessage(MAIL, tool_call_id=tool_call_id)])

    @tool
    def leave() -> Command[Any]:
        """Give a command without messages."""
        return Command(update=None)

    shield = ShieldMiddleware[Any, Any](guard())
    step = calling(call("tell", id="1"), call("leave", id="2"))
    schema: Any = Annotated[list[AnyMessage], add_messages]
    builder: Any = StateGraph(schema)
    builder.add_node("think", lambda state: [step])
    builder.add_node("tools", ToolNode([tell, leave], wrap_tool_call=shield.wrap_tool_call))
    builder.add_edge(START, "think")
    builder.add_edge("think", "tools")
    given = [HumanMessage(TASK)]
    messages = builder.compile().invoke(given)
    assert "do not serve the user's tasks" in answers(messages)["1"].text
