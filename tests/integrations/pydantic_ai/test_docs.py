"""The extra, the example and the page of the documentation."""

import importlib
import sys

import pytest
from pydantic_ai import (
    ToolCallPart,
)

from taskshield import MissingExtraError
from tests.integrations.examples import check_mail_example, printed_by
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
from tests.test_docs import blocks, run


def test_without_pydantic_ai_the_extra_to_install_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    name = "taskshield.integrations.pydantic_ai"
    monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pydantic_ai", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'taskshield\[pydantic-ai\]'"):
        importlib.import_module(name)


def test_the_example_runs_and_says_what_happened() -> None:
    check_mail_example(printed_by("pydantic_ai_agent"))


def test_the_examples_of_the_docs_run() -> None:
    first, second = blocks("docs/integrations/pydantic-ai.md", "python")
    office = Office(mail=POISONED)
    tools = [office.read_mail, office.send_mail]
    agent = run(first)["guarded"](Script(HIJACKED).model, tools)
    assert agent.run_sync(MEETING).output == "Done." and office.sent == ["alice@example.com"]
    asked: list[str] = []

    def ask(call: ToolCallPart) -> bool:
        asked.append(call.tool_call_id)
        return False

    model = Script([calls(READ), calls(STEAL), says("Not done.")]).model
    assert run(second)["work"](model, tools, MEETING, ask) == "Not done."
    assert asked == ["steal"] and office.sent == ["alice@example.com"]
