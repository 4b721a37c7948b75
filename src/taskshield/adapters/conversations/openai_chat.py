"""OpenAI chat completions: the body of a request, or just its messages.

A message's level comes from its role; what a host wrote into it is data (`host_text`).
"""

from collections.abc import Iterator, Sequence

from taskshield.adapters.conversations.host_text import arranged, attachment
from taskshield.adapters.parsing import tool_specs
from taskshield.adapters.parsing.json_reader import (
    Field,
    arguments,
    call_id,
    filled,
    only_assistant_calls,
    part,
    root_of,
)
from taskshield.adapters.parsing.tool_output import output_parts
from taskshield.core.levels import Level
from taskshield.core.messages import Conversation, Message, Opaque, Part, Text, ToolCall

_LEVELS = {
    "system": Level.SYSTEM,
    "developer": Level.SYSTEM,
    "user": Level.USER,
    "assistant": Level.ASSISTANT,
    "tool": Level.TOOL,
    "function": Level.TOOL,
}
_WORDS = {"text": "text", "input_text": "text", "output_text": "text", "refusal": "refusal"}


def parse(payload: object) -> Conversation:
    """Read `{"messages": [...], "tools": [...]}` or a bare list of messages.

    Raises:
        WireFormatError: The payload is not in this format; the message names the path.
    """
    return parse_with_numbers(payload)[0]


def parse_with_numbers(payload: object) -> tuple[Conversation, tuple[int | None, ...]]:
    """The same, and the number on the wire of each message that was not cut."""
    root = root_of(payload)
    turns = _turns(root)
    tools = (*root["tools"].elements(), *root["functions"].elements())
    conversation = Conversation(
        messages=tuple(message for message, _ in turns), tools=tool_specs.read(tools)
    )
    return conversation, tuple(number for _, number in turns)


def _turns(root: Field) -> list[tuple[Message, int | None]]:
    found: list[tuple[Message, int | None]] = []
    unanswered: list[ToolCall] = []
    for index, field in enumerate(root["messages"].elements()):
        message = _message(field, index, unanswered)
        if message.tool_calls:
            unanswered = list(message.tool_calls)
        unanswered = [call for call in unanswered if call.id != message.answers]
        found.append((message, index))
        if message.level is Level.USER and isinstance(field["content"].value, list):
            files = (each for each in field["content"].elements() if each["type"].value == "file")
            found += ((words, None) for each in files if (words := attachment(each)) is not None)
    return arranged(found)


def _message(field: Field, index: int, unanswered: Sequence[ToolCall]) -> Message:
    level = field["role"].choice(_LEVELS)
    calls = tuple(_calls(field, index))
    if calls and level is not Level.ASSISTANT:
        raise only_assistant_calls(field)
    return Message(
        level=level,
        parts=filled(_parts(field, level)),
        tool_calls=calls,
        answers=_answers(field, unanswered) if level is Level.TOOL else None,
    )


def _parts(field: Field, level: Level) -> Iterator[Part]:
    content = field["content"]
    if isinstance(content.value, list) and level is Level.TOOL:
        yield from output_parts(content)  # servers pass on what their tools return
    elif isinstance(content.value, list):
        yield from (part(element, _WORDS) for element in content.elements())
    elif isinstance(content.value, str):
        yield Text(text=content.value)
    elif content.given:
        raise content.wrong("a string or a list of parts")
    yield Text(text=field["refusal"].text_or(""))
    if field["audio"].given:
        yield Opaque(kind="audio")


def _calls(field: Field, index: int) -> Iterator[ToolCall]:
    number = 0
    for number, call in enumerate(field["tool_calls"].elements(), start=1):
        custom = call["type"].text_or("function") == "custom"
        body = call["custom" if custom else "function"]
        yield ToolCall(
            id=call_id(call["id"], index, number - 1),
            name=body["name"].text(),
            arguments=arguments(body["input" if custom else "arguments"]),
        )
    legacy = field["function_call"]
    if legacy.given:
        yield ToolCall(
            id=f"call_{index}_{number}",
            name=legacy["name"].text(),
            arguments=arguments(legacy["arguments"]),
        )


def _answers(field: Field, unanswered: Sequence[ToolCall]) -> str | None:
    """The id that the output names, or else the one call that it can be the output of."""
    given = field["tool_call_id"].text_or("")
    if given:
        return given
    name = field["name"].text_or("")
    if name:
        return next((call.id for call in unanswered if call.name == name), None)
    return unanswered[0].id if len(unanswered) == 1 else None
