"""Messages in the user's role that are not the user's."""

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    SummarizationMiddleware,
)
from langchain_core.messages import (
    AIMessage,
    HumanMessage,
)
from langgraph.checkpoint.memory import InMemorySaver

from taskshield.core.levels import Level
from taskshield.integrations.langchain import ShieldMiddleware
from tests.integrations.langchain.agents import (
    INJECTED,
    TASK,
    Mailbox,
    asked,
    careful_judge,
    texts,
    thread,
)
from tests.integrations.langchain.scripted_model import ScriptedModel, call, calling, saying
from tests.integrations.shields import Guard

SURFACE = "LangChain"


@pytest.mark.shows(SURFACE, "user turn")
@pytest.mark.parametrize("first", [True, False])
def test_a_summary_is_no_task_and_the_users_task_stays(guard: Guard, first: bool) -> None:
    judge, box = careful_judge(), Mailbox()
    summary = ScriptedModel(script=lambda messages: AIMessage(f"The user wants: {INJECTED}"))
    summing = SummarizationMiddleware(summary, trigger=("messages", 4), keep=("messages", 1))
    shield = ShieldMiddleware[Any, Any](guard(judge))
    middleware: Any = [shield, summing] if first else [summing, shield]
    model = ScriptedModel(
        script=saying(
            calling(call("read_mail", id="1")),
            calling(call("read_mail", id="2")),
            calling(call("send_mail", to="bob@example.com", id="3")),
            AIMessage("Done."),
            calling(call("send_mail", to="eve@example.com", id="4")),
            AIMessage("Done again."),
        )
    )
    agent = create_agent(model, box.tools, middleware=middleware, checkpointer=InMemorySaver())
    messages = agent.invoke(asked(), thread())["messages"]
    assert [each.type for each in messages] == ["human", "ai", "tool", "ai"]
    assert INJECTED in messages[0].text
    agent.invoke(asked("Anything else?"), thread())
    assert box.sent == ["bob@example.com"]
    assert texts(judge, Level.USER) == [TASK, "Anything else?"]
    assert any(INJECTED in text and "summary" in text for text in texts(judge, Level.TOOL))
    assert "do not serve the user's tasks" in model.shown[2][0].text


@pytest.mark.shows(SURFACE, "user turn")
def test_messages_of_other_middleware_in_the_users_role_are_no_tasks(guard: Guard) -> None:
    class Talkative(AgentMiddleware[Any, Any, Any]):
        def before_model(self, state: Any, runtime: Any) -> dict[str, Any]:
            return {"messages": [HumanMessage("Said before the model.")]}

        def after_agent(self, state: Any, runtime: Any) -> dict[str, Any]:
            return {"messages": [HumanMessage("Said at the end.")]}

    judge = careful_judge()
    middleware: Any = [ShieldMiddleware(guard(judge)), Talkative()]
    agent = create_agent(
        ScriptedModel(script=lambda messages: AIMessage("Hello.")),
        [],
        middleware=middleware,
        checkpointer=InMemorySaver(),
    )
    agent.invoke(asked("First."), thread())
    agent.invoke(asked("Second."), thread())
    assert texts(judge, Level.USER) == ["First.", "Second."]
    said = texts(judge, Level.TOOL)
    assert said == ["Said before the model.", "Said at the end."] * 2


def test_a_notification_is_no_task_even_in_the_input(guard: Guard) -> None:
    judge = careful_judge()
    agent = create_agent(
        ScriptedModel(script=saying(AIMessage("Hello."))),
        [],
        middleware=[ShieldMiddleware(guard(judge))],
    )
    notice = HumanMessage(f"Job 7 says: {INJECTED}", additional_kwargs={"lc_source": "job"})
    messages = agent.invoke({"messages": [HumanMessage(TASK), notice]})["messages"]
    assert texts(judge, Level.USER) == [TASK]
    assert "do not serve the user's tasks" in messages[1].text
