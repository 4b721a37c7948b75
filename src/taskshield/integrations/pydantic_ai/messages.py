"""Pydantic AI's messages and tools as those of the shield."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from pydantic_ai import RunContext, ToolDefinition
from pydantic_ai import messages as chat

from taskshield.adapters.parsing import tool_specs
from taskshield.adapters.parsing.encoded_text import text_of_file
from taskshield.adapters.parsing.json_reader import Field, filled
from taskshield.adapters.parsing.tool_output import text_parts
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
        yield from map(output_of, results)
        for part in message.parts:
            if isinstance(part, chat.UserPromptPart) and results:
                yield Message(level=Level.TOOL, parts=tuple(parts_of(part.content)))
            elif isinstance(part, chat.UserPromptPart):
                yield from prompt_messages(part.content)


def prompt_messages(content: Prompt) -> Iterator[Message]:
    """The user's own words, and the words of files beside them, which are data."""
    items = items_of(content)
    files = tuple(Text(text=words) for item in items if (words := words_of_file(item)) is not None)
    own = [item for item in items if words_of_file(item) is None]
    yield Message(level=Level.USER, parts=tuple(parts_of(own)))
    if files:
        yield Message(level=Level.TOOL, parts=files)


def output_of(result: chat.BaseToolReturnPart) -> Message:
    """The result of a tool, with its files."""
    text = result.model_response_str(wrap_if_error=False)
    return Message(
        level=Level.TOOL,
        parts=filled((*text_parts(text), *parts_of(result.files))),
        answers=result.tool_call_id,
        is_error=result.outcome != "success",
    )


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
        elif (words := words_of_file(item)) is not None:
            yield Text(text=words)
        else:
            yield Opaque(kind=item.kind)


def words_of_file(item: chat.UserContent) -> str | None:
    """What a file says if it is a text; None for all other content."""
    if not isinstance(item, chat.BinaryContent):
        return None
    return text_of_file(item.data, item.media_type)


def unread_files(items: Sequence[chat.UserContent]) -> list[chat.UserContent]:
    """The files that no judge can read."""
    words = (str, chat.TextContent)
    return [item for item in items if not isinstance(item, words) and words_of_file(item) is None]


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
