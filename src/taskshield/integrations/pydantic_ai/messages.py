"""Pydantic AI's messages and tools as those of the shield."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from pydantic_ai import RunContext, ToolDefinition
from pydantic_ai import messages as chat

from taskshield.adapters.parsing import tool_specs
from taskshield.adapters.parsing.json_reader import Field
from taskshield.core.levels import Level
from taskshield.core.messages import Message, Opaque, Part, Text, ToolCall, text_message
from taskshield.core.tools import ToolSpec

METADATA = "taskshield"
"""The key of the session in a message's metadata, and of the feedback in that of an approval."""

Arguments = dict[str, Any]
Context = RunContext[Any]
Prompt = str | Sequence[chat.UserContent]


def newest_session(messages: Sequence[chat.ModelMessage]) -> tuple[int, str | None]:
    """The newest session in a history, and how many messages it has."""
    for number in range(len(messages), 0, -1):
        metadata = messages[number - 1].metadata
        if metadata is not None and METADATA in metadata:
            return number, metadata[METADATA]
    return 0, None


def messages_of(history: Sequence[chat.ModelMessage]) -> Iterator[Message]:
    """A history as the messages that the session would have received.

    Prompts next to tool results may be a tool's own (`ToolReturn.content`), so they are no tasks.
    """
    for message in history:
        if isinstance(message, chat.ModelResponse):
            text = text_message(Level.ASSISTANT, text_of(message))
            calls = {call.id: call for call in map(call_of, message.tool_calls)}
            yield replace(text, tool_calls=tuple(calls.values()))
            continue
        results = [part for part in message.parts if isinstance(part, chat.ToolReturnPart)]
        for result in results:
            output = text_message(Level.TOOL, result.model_response_str(wrap_if_error=False))
            yield replace(output, answers=result.tool_call_id, is_error=result.outcome != "success")
        level = Level.TOOL if results else Level.USER
        for part in message.parts:
            if isinstance(part, chat.UserPromptPart):
                yield Message(level=level, parts=tuple(parts_of(part.content)))


def system_text(messages: Sequence[chat.ModelMessage]) -> str:
    """The system prompts of all requests, and the instructions of the newest one."""
    parts = [part for message in messages for part in message.parts]
    texts = [part.content for part in parts if isinstance(part, chat.SystemPromptPart)]
    newest = messages[-1]
    if isinstance(newest, chat.ModelRequest) and newest.instructions is not None:
        texts.append(newest.instructions)
    return "\n\n".join(texts)


def text_of(response: chat.ModelResponse) -> str:
    """The words of a response, without hidden reasoning."""
    parts = [part for part in response.parts if isinstance(part, chat.TextPart | chat.SpeechPart)]
    return "\n".join(part.content for part in parts if part.content)


def with_files(content: str, files: Sequence[Any]) -> Any:
    """A text with the files that belong to it."""
    return [content, *files] if files else content


def items_of(content: Prompt) -> Sequence[chat.UserContent]:
    """The items of a prompt; a plain text is a single item."""
    return [content] if isinstance(content, str) else content


def parts_of(content: Prompt) -> Iterator[Part]:
    """The parts of a prompt."""
    for item in items_of(content):
        if isinstance(item, str):
            yield Text(text=item)
        elif isinstance(item, chat.TextContent):
            yield Text(text=item.content)
        else:
            yield Opaque(kind=item.kind)


def call_of(part: chat.ToolCallPart) -> ToolCall:
    """A tool call."""
    return ToolCall(id=part.tool_call_id, name=part.tool_name, arguments=part.args_as_json_str())


def is_output_tool(context: Context, tool: str) -> bool:
    """Whether the model calls this tool to give its answer."""
    return tool in context.tools and context.tools[tool].kind == "output"


def spec_of(tool: ToolDefinition) -> ToolSpec:
    """A tool, with its hints if an MCP server provides it."""
    body = {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters_json_schema,
        "annotations": None if tool.metadata is None else tool.metadata.get("annotations"),
    }
    (spec,) = tool_specs.read([Field(value=body, key="tool")])
    return spec
