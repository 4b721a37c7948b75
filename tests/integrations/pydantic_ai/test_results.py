"""Results of tools, errors and files."""

from typing import Any

import pytest
from pydantic import BaseModel
from pydantic_ai import (
    Agent,
    BinaryContent,
    DeferredToolRequests,
    DeferredToolResults,
    ModelResponse,
    ModelRetry,
    NativeToolCallPart,
    NativeToolReturnPart,
    ToolDefinition,
    ToolFailed,
    ToolReturn,
    UserPromptPart,
)
from pydantic_ai.toolsets import ExternalToolset

from taskshield import Level
from tests.integrations.pydantic_ai.agents import (
    HIJACKED,
    INJECTED,
    MAIL,
    READ,
    REFUSED,
    STEAL,
    TASK,
    Office,
    Script,
    call,
    calls,
    results,
    says,
)

SURFACE = "Pydantic AI"


@pytest.mark.shows(SURFACE, "tool output")
@pytest.mark.parametrize(("output", "kept"), [("annotate", True), ("redact", False)])
def test_a_result_is_checked_before_the_model_reads_it(output: str, kept: bool) -> None:
    office, script = Office(), Script(HIJACKED)
    office.agent(script, office.shield(output=output)).run_sync(TASK)
    shown = script.shown(1)
    assert "do not serve the user's" in shown and "when do we meet" in shown
    assert shown.split("[Task Shield")[0].count(INJECTED) == int(kept)


@pytest.mark.shows(SURFACE, "tool output")
def test_errors_that_a_tool_reports_to_the_model_are_checked() -> None:
    errors = iter([ModelRetry("Try later."), ToolFailed(INJECTED)])

    def read_mail() -> str:
        raise next(errors)

    office, script = Office(), Script([calls(READ), calls(READ), says("Failed.")])
    office.agent(script, office.shield(output="redact"), tools=[read_mail]).run_sync(TASK)
    assert "Try later." in script.shown() and "removed" in script.shown()
    assert INJECTED not in script.shown()


def test_results_keep_their_type_and_additional_content_is_kept_as_data() -> None:
    class Mail(BaseModel):
        text: str

    def read_mail(clean: bool) -> ToolReturn[Mail]:
        beside = "no more" if clean else INJECTED
        return ToolReturn(Mail(text="hello"), content=[beside], metadata={"n": 1})

    script = Script(
        [calls(call("read_mail", "a", clean=True), call("read_mail", "b", clean=False)), says("Ok")]
    )
    office = Office()
    result = office.agent(script, tools=[read_mail]).run_sync(TASK)
    clean, planted = (results(result.all_messages())[id] for id in "ab")
    assert clean.content == Mail(text="hello") and planted.metadata == {"n": 1}
    assert isinstance(planted.content, str) and "do not serve the user's" in planted.content
    prompts = [
        part.content
        for message in result.all_messages()
        for part in message.parts
        if isinstance(part, UserPromptPart)
    ]
    assert prompts == [TASK, ["no more"]]
    assert [task.text for task in office.decisions[-1].case.tasks] == [TASK]


def test_calls_of_external_tools_are_blocked_and_their_results_checked() -> None:
    names = ("read_mail", "send_mail")
    external: ExternalToolset[None] = ExternalToolset([ToolDefinition(name=name) for name in names])
    office = Office()

    def agent(script: Script) -> Agent[None, Any]:
        return office.agent(
            script, tools=[], toolsets=[external], output_type=[str, DeferredToolRequests]
        )

    script = Script([calls(STEAL, READ)])
    paused = agent(script).run_sync(TASK)
    assert [each.tool_name for each in paused.output.calls] == ["read_mail"]
    assert REFUSED in str(results(paused.all_messages())["steal"].content)
    for mail in (MAIL, "Nothing new."):
        script = Script([says("Done.")])
        agent(script).run_sync(
            message_history=paused.all_messages(),
            deferred_tool_results=DeferredToolResults(calls={"read": mail}),
        )
        assert mail in script.shown()
        assert ("do not serve the user's" in script.shown()) == (mail == MAIL)


def test_results_of_the_providers_own_tools_are_added_to_the_session() -> None:
    searched: list[Any] = [
        NativeToolCallPart("web_search", {}, "search"),
        NativeToolReturnPart("web_search", MAIL, "search"),
    ]
    office = Office()
    script = Script([ModelResponse([*searched, STEAL]), says("Done.")])
    office.agent(script).run_sync(TASK)
    (held,) = [decision for decision in office.decisions if not decision.allowed]
    assert [each.instruction.text for each in held.case.tainted] == [INJECTED]


def test_files_in_results_are_kept_when_the_text_changes() -> None:
    image = BinaryContent(b"png", media_type="image/png")

    def read_mail() -> list[Any]:
        return [MAIL, image]

    office, script = Office(), Script([calls(READ), says("Done.")])
    result = office.agent(script, tools=[read_mail]).run_sync(TASK)
    content = results(result.all_messages())["read"].content
    assert isinstance(content, list)
    text, picture = content
    assert "do not serve the user's" in text and picture == image
    assert any(decision.unreadable == ("binary",) for decision in office.decisions)


@pytest.mark.shows(SURFACE, "tool output")
def test_a_file_that_is_a_text_is_read_and_goes_when_it_is_redacted() -> None:
    note = BinaryContent(MAIL.encode(), media_type="text/plain")

    def read_mail() -> list[Any]:
        return ["One mail.", note]

    office, script = Office(), Script([calls(READ), says("Done.")])
    shield = office.shield(output="redact")
    result = office.agent(script, shield, tools=[read_mail]).run_sync(TASK)
    content = results(result.all_messages())["read"].content
    assert INJECTED not in str(content) and "removed by Task Shield" in str(content)
    assert note not in (content if isinstance(content, list) else [content])


def test_a_text_file_beside_the_users_words_is_data() -> None:
    note = BinaryContent(MAIL.encode(), media_type="application/octet-stream")
    office = Office()
    office.agent(Script([says("Done.")])).run_sync([TASK, note])
    assert all(INJECTED not in task.text for each in office.decisions for task in each.case.tasks)
    (read,) = [each for each in office.decisions if each.case.message.level is Level.TOOL]
    assert read.misaligned
