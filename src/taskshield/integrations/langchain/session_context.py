"""Adds the system prompt and the called tools to a session."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from langchain_core.messages import SystemMessage
from langchain_core.messages.tool import ToolCall as LangChainCall
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_function

from taskshield.adapters.parsing import tool_specs
from taskshield.adapters.parsing.json_reader import Field
from taskshield.core.session_state import SessionState


def with_system_prompt(session: SessionState, prompt: SystemMessage | None) -> SessionState:
    """The session with this system prompt. The objectives of a new prompt are read later."""
    text = session.system if prompt is None else str(prompt.text)
    if text == session.system:
        return session
    return replace(session, system=text, objectives_known=False)


def with_called_tools(
    session: SessionState, tools: Iterable[object], calls: Sequence[LangChainCall]
) -> SessionState:
    """The session with the definitions of the tools that are called."""
    called = {call["name"] for call in calls}
    given = [tool for tool in tools if isinstance(tool, BaseTool) and tool.name in called]
    # LangChain's adapters for MCP put a tool's annotations into its metadata.
    definitions = [
        {**convert_to_openai_function(tool), "annotations": tool.metadata} for tool in given
    ]
    specs = tool_specs.read(Field(value=each, key="tool") for each in definitions)
    return replace(session, tools={**session.tools, **{spec.name: spec for spec in specs}})
