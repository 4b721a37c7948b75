"""Results of tools, errors and files."""

import asyncio
from typing import Any

import pytest
from google.adk.runners import Runner
from google.adk.tools._request_input_tool import request_input
from google.adk.tools.long_running_tool import LongRunningFunctionTool
from google.genai import types

from taskshield import Level
from tests.integrations.google_adk.agents import (
    INJECTED,
    MAIL,
    READ,
    TASK,
    Office,
    Script,
    call,
    says,
    talk,
)

SURFACE = "Google ADK"
# ADK builds its own inner runners with an argument that it calls deprecated.
pytestmark = pytest.mark.filterwarnings("ignore:The `plugins` argument:DeprecationWarning")


@pytest.mark.shows(SURFACE, "tool output")
def test_errors_that_reach_the_model_are_checked() -> None:
    def read_mail() -> str:
        raise ValueError(INJECTED)

    def told(tool: Any, args: Any, tool_context: Any, error: Exception) -> dict[str, Any]:
        return {"error": str(error)}

    office, script = Office(), Script([[READ], [says("Failed.")]])
    agent = office.agent(script, tools=[read_mail], on_tool_error_callback=told)
    asyncio.run(talk(office.runner(agent, office.shield(output="redact")), TASK))
    assert INJECTED not in script.heard[1] and "removed by Task Shield" in script.heard[1]


def test_results_keep_their_shape_and_media_are_not_lost() -> None:
    picture = types.Part.from_bytes(data=b"png", mime_type="image/png")

    def read_mail(number: int) -> Any:
        return {"text": "Hello."} if number == 0 else [MAIL, picture]

    def answers(number: int) -> types.Part:
        return call("read_mail", number=number)

    office, script = Office(), Script([[answers(0), answers(1)], [says("Done.")]])
    agent = office.agent(script, tools=[read_mail])
    events = asyncio.run(talk(office.runner(agent), TASK))
    clean, planted = events[1].get_function_responses()
    assert clean.response == {"text": "Hello."}
    assert planted.response is not None and planted.parts is not None
    assert "do not serve the user's" in planted.response["result"]
    assert planted.parts[0].inline_data is not None
    assert any(decision.unreadable == ("media",) for decision in office.decisions)


@pytest.mark.shows(SURFACE, "tool output")
@pytest.mark.parametrize("mail", [MAIL, "Nothing new."])
def test_results_that_come_later_are_checked(mail: str) -> None:
    def read_mail() -> None:
        """Read the newest mail, which takes a day."""

    office, script = Office(), Script([[READ], [says("Wait.")], [says("Done.")]])
    agent = office.agent(script, tools=[LongRunningFunctionTool(read_mail)])
    asyncio.run(answered(office.runner(agent), mail))
    assert mail in script.heard[-1]
    assert ("do not serve the user's" in script.heard[-1]) == (mail == MAIL)
    assert [task.text for task in office.decisions[-1].case.tasks] == [TASK]


def test_the_users_answer_to_a_question_counts_as_the_users() -> None:
    office = Office()
    question = call("adk_request_input", message="Which day?")
    script = Script([[question], [says("Done.")]])
    agent = office.agent(script, tools=[request_input])
    asyncio.run(answered(office.runner(agent), "On Friday."))
    assert [task.text for task in office.decisions[-1].case.tasks][1:] == ["On Friday."]
    assert not any(decision.calls for decision in office.decisions)


async def answered(runner: Runner, answer: str) -> None:
    """A turn of the user, and then the answer to the call that it left open."""
    events = await talk(runner, TASK)
    (asked,) = [each for event in events for each in event.get_function_calls()]
    later = types.FunctionResponse(id=asked.id, name=asked.name, response={"result": answer})
    await talk(runner, types.Part(function_response=later))


@pytest.mark.shows(SURFACE, "tool output")
def test_a_file_that_is_a_text_is_read_and_goes_when_it_is_redacted() -> None:
    note = types.Part.from_bytes(data=MAIL.encode(), mime_type="text/plain")

    def read_mail() -> Any:
        return ["One mail.", note]

    office, script = Office(), Script([[READ], [says("Done.")]])
    agent = office.agent(script, tools=[read_mail])
    runner = office.runner(agent, office.shield(output="redact"))
    events = asyncio.run(talk(runner, TASK))
    (answer,) = events[1].get_function_responses()
    assert answer.response is not None and "removed by Task Shield" in answer.response["result"]
    assert not answer.parts and INJECTED not in script.heard[1]


def test_a_text_file_beside_the_users_words_is_data() -> None:
    note = types.Part.from_bytes(data=MAIL.encode(), mime_type="application/octet-stream")
    office = Office()
    runner = office.runner(office.agent(Script([[says("Done.")]])))
    asyncio.run(talk(runner, note))
    assert all(INJECTED not in task.text for each in office.decisions for task in each.case.tasks)
    (read,) = [each for each in office.decisions if each.case.message.level is Level.TOOL]
    assert INJECTED in read.case.message.text
