"""The integrations of agent frameworks as readers of a tool's output."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from google.genai import types
from langchain_core.messages import ToolMessage
from openai.types.responses import ResponseFunctionToolCall
from pydantic_ai.messages import ToolReturnPart

from taskshield.core.messages import Message
from taskshield.integrations.google_adk import code_execution, contents
from taskshield.integrations.langchain import incoming
from taskshield.integrations.openai_agents import conversations
from taskshield.integrations.pydantic_ai import messages

_CALL = ResponseFunctionToolCall(type="function_call", call_id="c", name="read", arguments="{}")


def _adk_code(value: Any) -> Message:
    part = types.Part.from_code_execution_result(
        outcome=types.Outcome.OUTCOME_OK, output=json.dumps(value)
    )
    returned = code_execution.returned_by(part)
    assert returned is not None
    return contents.output_of(returned.value, "c")


FRAMEWORKS: Mapping[str, Callable[[Any], Message]] = {
    "Google ADK, tool": lambda value: contents.output_of(value, "c"),
    "Google ADK, code": _adk_code,
    "LangChain, blocks": lambda value: incoming.read_as_output(
        ToolMessage(content=[value], tool_call_id="c")
    ),
    "LangChain, JSON": lambda value: incoming.read_as_output(
        ToolMessage(content=json.dumps(value), tool_call_id="c")
    ),
    "OpenAI Agents": lambda value: conversations.output_of(_CALL, {"result": value}),
    "OpenAI Agents, JSON": lambda value: conversations.output_of(_CALL, json.dumps(value)),
    "Pydantic AI": lambda value: messages.output_of(ToolReturnPart("read", value, "c")),
}
