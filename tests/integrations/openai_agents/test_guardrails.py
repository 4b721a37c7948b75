"""Guardrails: other ones, tools without them, and agents that were changed."""

from typing import Any

import pytest
from agents import (
    Agent,
    AgentHooks,
    CustomTool,
    GuardrailFunctionOutput,
    InputGuardrail,
    ToolGuardrailFunctionOutput,
    WebSearchTool,
    tool_input_guardrail,
    tool_output_guardrail,
)
from agents.realtime import RealtimeAgent
from openai.types.responses import ResponseCustomToolCall, ResponseFunctionWebSearch
from openai.types.responses.response_function_web_search import ActionSearch

from taskshield import ConfigError, Shield
from taskshield.core.levels import Level
from taskshield.integrations.openai_agents import RunRefused, guard
from tests.integrations.openai_agents.agents import (
    NOTED,
    agent,
    by_run,
    careful_judge,
    shield,
    texts,
)
from tests.integrations.openai_agents.scripted_model import (
    BOB,
    EVE,
    INJECTED,
    MAIL,
    READ,
    REPLY,
    STEAL,
    TASK,
    Mailbox,
    answer_to,
    hijackable,
    say,
    script,
)


def test_other_guardrails_still_speak_and_what_they_say_is_checked() -> None:
    @tool_input_guardrail
    def not_twice(data: Any) -> ToolGuardrailFunctionOutput:
        return ToolGuardrailFunctionOutput.reject_content("twice")

    @tool_output_guardrail
    def shortened(data: Any) -> ToolGuardrailFunctionOutput:
        return ToolGuardrailFunctionOutput.reject_content(f"short: {data.output}", {"cut": 1})

    @tool_output_guardrail
    def content(data: Any) -> ToolGuardrailFunctionOutput:
        return ToolGuardrailFunctionOutput.allow()

    box = Mailbox()
    box.read.tool_output_guardrails = [content, shortened]
    box.send.tool_input_guardrails = [not_twice]
    model = script(READ, REPLY, say("Done."))
    result = by_run(guard(agent(model, box.tools), shield()), TASK)
    assert box.sent == [] and answer_to("reply", model) == "twice"
    assert answer_to("read", model).startswith(f"short: {MAIL}") and NOTED in answer_to(
        "read", model
    )
    spoken = [each.guardrail.get_name() for each in result.tool_output_guardrail_results]
    assert spoken == ["content", "shortened"]
    assert result.tool_output_guardrail_results[1].output.output_info == {"cut": 1}


def test_an_input_guardrail_still_sees_what_the_user_says() -> None:
    seen = list[Any]()

    def look(context: Any, agent: Any, said: Any) -> GuardrailFunctionOutput:
        seen.append(said)
        return GuardrailFunctionOutput(output_info=None, tripwire_triggered=False)

    bare = agent(script(say("Hello.")), [], input_guardrails=[InputGuardrail(look)])
    by_run(guard(bare, shield()), "Hi.")
    assert seen == ["Hi."]


def noting(done: list[str]) -> CustomTool:
    async def note(context: Any, text: str) -> str:
        done.append(text)
        return MAIL

    return CustomTool(name="note", description="Take a note.", on_invoke_tool=note)


def custom(text: str) -> Any:
    return ResponseCustomToolCall(type="custom_tool_call", call_id="n", name="note", input=text)


def test_a_refused_call_that_no_guardrail_can_answer_ends_the_run() -> None:
    done = list[str]()
    guarded = guard(agent(script(custom(f"to {EVE}")), [noting(done)]), shield())
    with pytest.raises(RunRefused, match="custom_tool_call"):
        by_run(guarded, TASK)
    assert done == []


def test_the_output_of_a_tool_without_guardrails_is_remembered() -> None:
    done, judge, box = list[str](), careful_judge(), Mailbox()
    model = script(custom("hello"), STEAL, say("Done."))
    guarded = guard(agent(model, [noting(done), *box.tools]), shield(judge))
    by_run(guarded, TASK)
    assert done == ["hello"] and box.sent == []
    assert MAIL in texts(judge, Level.TOOL)
    assert [item.instruction.text for item in judge.views[-1].tainted] == [INJECTED]


def test_what_the_provider_has_done_already_is_seen_and_does_not_end_the_run() -> None:
    search = ResponseFunctionWebSearch(
        id="w",
        type="web_search_call",
        status="completed",
        action=ActionSearch(type="search", query=EVE, queries=[EVE]),
    )
    judge = careful_judge()
    model = script([search, say("Found.")])
    result = by_run(guard(agent(model, [WebSearchTool()]), shield(judge)), TASK)
    assert result.final_output == "Found."
    calls = [called.name for message in judge.seen for called in message.tool_calls]
    assert calls == ["web_search"]


def test_a_tool_that_comes_later_is_guarded() -> None:
    box, model = Mailbox(), hijackable()
    guarded = guard(agent(model, []), shield())
    guarded.tools.extend(box.tools)
    by_run(guarded, TASK)
    assert box.sent == [BOB]


def test_a_clone_is_guarded() -> None:
    box = Mailbox()
    by_run(guard(agent(hijackable(), box.tools), shield()).clone(name="Twin"), TASK)
    assert box.sent == [BOB]


def bare_hooks(guarded: Agent[Any], box: Mailbox) -> None:
    guarded.hooks = AgentHooks()


def bare_handoff(guarded: Agent[Any], box: Mailbox) -> None:
    guarded.handoffs.append(agent(hijackable(), box.tools, name="Second"))


def bare_agent_tool(guarded: Agent[Any], box: Mailbox) -> None:
    guarded.tools.append(agent(hijackable(), box.tools, name="Clerk").as_tool("clerk", "Clerk."))


@pytest.mark.parametrize("change", [bare_hooks, bare_handoff, bare_agent_tool])
def test_a_change_that_would_leave_a_gap_ends_the_run(change: Any) -> None:
    box = Mailbox()
    guarded = guard(agent(hijackable(), box.tools), shield())
    change(guarded, box)
    with pytest.raises(ConfigError, match=r"were changed after guard\(\)|is not guarded"):
        by_run(guarded, TASK)
    assert box.sent == []


def test_an_agent_in_a_tool_must_be_guarded_itself() -> None:
    tool = agent(script(), [], name="Clerk").as_tool("ask_clerk", "Ask the clerk.")
    with pytest.raises(ConfigError, match=r"'ask_clerk' is not guarded\. .*as_tool"):
        guard(agent(script(), [tool]), shield())


def test_what_cannot_be_guarded_is_refused() -> None:
    with pytest.raises(ConfigError, match="not a RealtimeAgent"):
        guard(RealtimeAgent(name="Voice"), shield())  # type: ignore[arg-type]
    with Shield(careful_judge()) as threaded, pytest.raises(ConfigError, match="not a Shield"):
        guard(agent(script(), []), threaded)  # type: ignore[arg-type]
