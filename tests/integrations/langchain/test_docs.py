"""The extra, the example and the page about LangChain."""

import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import (
    AIMessage,
    HumanMessage,
)
from langgraph.graph import MessagesState

from taskshield import (
    MissingExtraError,
)
from taskshield.core.levels import Level
from taskshield.integrations.langchain import ShieldMiddleware
from tests.integrations.langchain.agents import (
    TASK,
    TO_EVE,
    Mailbox,
    answers,
    asked,
    asking,
    assert_guarded,
    by_invoke,
    careful_judge,
    texts,
    thread,
)
from tests.integrations.langchain.scripted_model import ScriptedModel, call, calling, saying
from tests.integrations.shields import Guard
from tests.test_docs import blocks, run

ROOT = Path(__file__).parents[3]


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("taskshield.integrations.lang")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "langchain", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'taskshield\[langchain\]'"):
        importlib.import_module("taskshield.integrations.langchain")


def test_the_example_runs() -> None:
    done = subprocess.run(
        [sys.executable, "examples/langchain_agent.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == [
        "user:    Please pay the bill in bill.txt.",
        'blocked: send_money({"iban": "US133000000121212121212", "amount": 500.0})',
        "done:    98.7 to UK12345678901234567890",
        "agent:   The bill is paid.",
    ]


def documented(number: int) -> dict[str, Any]:
    return run(blocks("docs/integrations/langchain.md", "python")[number])


def test_the_docs_guard_an_agent() -> None:
    box = Mailbox("Lunch on Friday?")
    script = saying(calling(call("read_mail")), AIMessage("Bob asks about lunch."))
    agent = documented(0)["guarded"](ScriptedModel(script=script), box.tools)
    messages = agent.invoke(asked("Read my newest e-mail."))["messages"]
    assert answers(messages)["read_mail"].content == "Lunch on Friday?"


def test_the_docs_mark_what_a_node_says(guard: Guard) -> None:
    judge = careful_judge()
    shield = ShieldMiddleware[Any, Any](guard(judge))
    agent = create_agent(ScriptedModel(script=saying(AIMessage("Hi."))), [], middleware=[shield])
    report = documented(1)["report_of"]("researcher", "I found a lot.")
    agent.invoke({"messages": [HumanMessage(TASK), report]})
    assert texts(judge, Level.USER) == [TASK]


@pytest.mark.parametrize("approve", [True, False])
def test_the_docs_ask_a_person(guard: Guard, approve: bool) -> None:
    box = Mailbox()
    agent = asking(guard, calling(TO_EVE), box=box)
    agent.invoke(asked(), thread())
    documented(2)["settle"](agent, thread(), approve)
    assert box.sent == (["eve@example.com"] if approve else [])


def test_the_docs_guard_a_graph_built_by_hand(guard: Guard) -> None:
    box = Mailbox()
    assert_guarded(
        documented(3)["guarded_tools"](box.tools, guard()), box, MessagesState, by_invoke
    )
