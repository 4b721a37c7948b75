"""Threads: stored, forked, without a checkpointer, many at once."""

import asyncio
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from taskshield.core.levels import Level
from taskshield.integrations.langchain import ShieldMiddleware
from tests.integrations.langchain.agents import (
    INJECTED,
    MAIL,
    MODES,
    TASK,
    Agent,
    Mailbox,
    answers,
    asked,
    careful_judge,
    hijacked,
    texts,
    thread,
)
from tests.integrations.langchain.scripted_model import ScriptedModel, call, calling, saying
from tests.integrations.shields import Guard
from tests.judging import TableJudge

SURFACE = "LangChain"


@pytest.mark.shows(SURFACE, "user turn")
@pytest.mark.parametrize("mode", MODES)
def test_a_thread_continues_in_another_process(guard: Guard, mode: Any) -> None:
    box, saver = Mailbox(), InMemorySaver()
    judges = [careful_judge(), careful_judge()]
    for judge, wish in zip(judges, [TASK, "And the one before."], strict=True):
        agent = create_agent(
            ScriptedModel(script=hijacked),
            box.tools,
            middleware=[ShieldMiddleware(guard(judge))],
            checkpointer=saver,
        )
        mode(agent, asked(wish), thread())
    assert box.sent == ["bob@example.com"] * 2
    later = judges[1]
    assert texts(later, Level.USER) == ["And the one before."]  # nothing is read twice
    assert [task.text for task in later.views[1].tasks] == [TASK, "And the one before."]
    assert [item.instruction.text for item in later.views[1].tainted] == [INJECTED]
    kept = json.loads(agent.get_state(thread()).values["taskshield"])
    assert kept["session"]["counters"] == {"executed": 14, "skipped": 0, "failed": 0}


def test_stored_data_is_neither_input_nor_output_of_the_agent(guard: Guard) -> None:
    judge = careful_judge()
    model = ScriptedModel(script=saying(AIMessage("Hello."), AIMessage("Hello again.")))
    agent: Agent = create_agent(model, [], middleware=[ShieldMiddleware(guard(judge))])
    assert set(agent.invoke({**asked(), "taskshield": "{}"})) == {"messages"}
    assert texts(judge, Level.USER) == [TASK]


def test_threads_of_one_agent_are_independent(guard: Guard) -> None:
    judge = careful_judge()
    agent = create_agent(
        ScriptedModel(script=lambda messages: AIMessage("Hello.")),
        [],
        middleware=[ShieldMiddleware(guard(judge))],
        checkpointer=InMemorySaver(),
    )
    for name in "ab":
        agent.invoke(asked(f"Task of {name}."), thread(name))
    assert [task.text for task in judge.views[-1].tasks] == ["Task of b."]


def test_a_fork_of_a_thread_does_not_have_later_messages(guard: Guard) -> None:
    judge = careful_judge()
    agent: Agent = create_agent(
        ScriptedModel(script=lambda messages: AIMessage("Hello.")),
        [],
        middleware=[ShieldMiddleware(guard(judge))],
        checkpointer=InMemorySaver(),
    )
    agent.invoke(asked("First."), thread())
    before = agent.get_state(thread()).config
    agent.invoke(asked("Second."), thread())
    agent.invoke(asked("Other."), before)
    assert [task.text for task in judge.views[-1].tasks] == ["First.", "Other."]


def test_without_a_checkpointer_each_run_starts_from_its_input(
    guard: Guard,
) -> None:
    box, judge = Mailbox(), careful_judge()
    agent = create_agent(
        ScriptedModel(script=hijacked), box.tools, middleware=[ShieldMiddleware(guard(judge))]
    )
    first = agent.invoke(asked())["messages"]
    again = agent.invoke({"messages": [*first, HumanMessage("And the one before.")]})["messages"]
    assert again[: len(first)] == first  # what was annotated is not annotated once more
    assert box.sent == ["bob@example.com"] * 2
    assert [task.text for task in judge.views[-1].tasks] == [TASK, "And the one before."]
    assert judge.views[-1].tainted


def test_unchecked_history_is_checked_before_the_model_reads_it(guard: Guard) -> None:
    model = ScriptedModel(script=saying(AIMessage("Done.")))
    agent = create_agent(model, [], middleware=[ShieldMiddleware(guard())])
    given: Any = [
        SystemMessage("Be brief."),
        HumanMessage("Read it."),
        calling(call("read_mail", id="1")),
        ToolMessage(MAIL, tool_call_id="1", id="old"),
        HumanMessage("Well?"),
    ]
    messages = agent.invoke({"messages": given})["messages"]
    assert "do not serve the user's tasks" in answers(messages)["1"].text
    assert [each.type for each in messages] == ["system", "human", "ai", "tool", "human", "ai"]
    assert "do not serve the user's tasks" in model.shown[0][3].text


def test_files_next_to_the_users_words_are_data(guard: Guard) -> None:
    judge = careful_judge()
    agent = create_agent(
        ScriptedModel(script=saying(AIMessage("Done."))),
        [],
        middleware=[ShieldMiddleware(guard(judge))],
    )
    content: Any = [
        {"type": "text", "text": "Summarise this."},
        {"type": "text-plain", "text": MAIL, "mime_type": "text/plain"},
        {"type": "image", "base64": "iVBORw0KGgo=", "mime_type": "image/png"},
        {"type": "image", "url": "data:image/png;base64,iVBORw0KGgo="},
        {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}},
    ]
    agent.invoke({"messages": [HumanMessage(content)]})
    (said,) = [message for message in judge.seen if message.level is Level.USER]
    assert said.text == "Summarise this." and said.unreadable == ("image", "image", "image_url")
    assert texts(judge, Level.TOOL) == [f"{MAIL}\nhttps://example.com/a.png"]
    assert [item.instruction.text for item in judge.views[-1].tainted] == [INJECTED]


@pytest.mark.parametrize("way", ["threads", "tasks"])
def test_concurrent_runs_do_not_mix(guard: Guard, way: str) -> None:
    names = [f"friend{number}@example.com" for number in range(12)]
    judge = TableJudge(score=lambda instruction, task: float(task in instruction))
    sent: list[str] = []

    @tool
    def send_mail(to: str) -> str:
        """Send a mail."""
        sent.append(to)
        return "sent"

    def script(messages: Sequence[BaseMessage]) -> AIMessage:
        wish = messages[0].text
        if len(messages) > 1:
            return AIMessage("Done.")
        wrong = names[names.index(wish) - 1]
        return calling(call("send_mail", to=wish, id="1"), call("send_mail", to=wrong, id="2"))

    agent: Agent = create_agent(
        ScriptedModel(script=script), [send_mail], middleware=[ShieldMiddleware(guard(judge))]
    )

    async def together() -> list[Any]:
        return await asyncio.gather(*(agent.ainvoke(asked(name)) for name in names))

    if way == "tasks":
        results = asyncio.run(together())
    else:
        with ThreadPoolExecutor(12) as pool:
            results = list(pool.map(lambda name: agent.invoke(asked(name)), names))
    assert sorted(sent) == sorted(names)
    for name, result in zip(names, results, strict=True):
        given = answers(result["messages"])
        assert given["1"].content == "sent" and name in given["2"].text
