"""Anthropic messages: the body of a request, or just its messages.

One message of this format may hold text of several levels. Each tool result becomes a message of
its own at tool level, whatever the role of the message around it. The order stays the same. The
agent's reasoning is left out: a judge must not treat it as fact.
"""

from collections.abc import Iterator

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
from taskshield.core.messages import Conversation, Message, Part, ToolCall

_LEVELS = {"system": Level.SYSTEM, "user": Level.USER, "assistant": Level.ASSISTANT}
_WORDS = {"text": "text"}
CALLS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
REASONING = frozenset({"thinking", "redacted_thinking"})
_ENVELOPE = frozenset({"caller", "tool_use_id", "type"})
"""Members of a result that only say which call it answers; no tool can write them."""


def parse(payload: object) -> Conversation:
    """Read `{"system": ..., "messages": [...], "tools": [...]}` or a bare list of messages.

    Raises:
        WireFormatError: The payload is not in this format; the message names the path.
    """
    root = root_of(payload)
    messages: list[Message] = []
    if root["system"].given:
        messages.extend(_messages(root["system"], Level.SYSTEM, 0))
    for index, field in enumerate(root["messages"].elements()):
        level = field["role"].choice(_LEVELS)
        messages.extend(_messages(field["content"], level, index))
    return Conversation(messages=tuple(messages), tools=tool_specs.read(root["tools"].elements()))


def is_result(kind: object) -> bool:
    """Whether blocks of this type hold the output of a tool."""
    return isinstance(kind, str) and (kind == "tool_result" or kind.endswith("_tool_result"))


def _messages(content: Field, level: Level, index: int) -> Iterator[Message]:
    """The content of one message on the wire, cut where a tool speaks."""
    parts: list[Part] = []
    calls: list[ToolCall] = []
    called = 0
    whole = True
    for block in _blocks(content):
        kind = block["type"].text()
        if is_result(kind):
            if parts or calls:
                yield Message(level=level, parts=filled(parts), tool_calls=tuple(calls))
            yield _result(block)
            parts, calls, whole = [], [], False
        elif kind in CALLS:
            if level is not Level.ASSISTANT:
                raise only_assistant_calls(block)
            calls.append(_call(block, index, called))
            called += 1
        elif kind not in REASONING:
            parts.append(part(block, _WORDS))
    if parts or calls or whole:
        yield Message(level=level, parts=filled(parts), tool_calls=tuple(calls))


def _blocks(content: Field) -> Iterator[Field]:
    if isinstance(content.value, str):
        block = {"type": "text", "text": content.value}
        return iter((Field(value=block, key=content.key, parent=content.parent),))
    if isinstance(content.value, list):
        return content.elements()
    raise content.wrong("a string or a list of blocks")


def _call(block: Field, index: int, number: int) -> ToolCall:
    return ToolCall(
        id=call_id(block["id"], index, number),
        name=block["name"].text(),
        arguments=arguments(block["input"]),
    )


def _result(block: Field) -> Message:
    by_provider = block["type"].value != "tool_result"
    rest = {key: value for key, value in block.mapping().items() if key not in _ENVELOPE}
    output = Field(value=rest, key=block.key, parent=block.parent)
    return Message(
        level=Level.TOOL,
        parts=filled(output_parts(output, sealed=by_provider)),
        answers=block["tool_use_id"].text_or("") or None,
        is_error=block["is_error"].flag() is True or _is_error(block["content"].value),
    )


def _is_error(content: object) -> bool:
    """Server tools report a failure by the type of what stands in place of the result."""
    kind = content.get("type") if isinstance(content, dict) else None
    return isinstance(kind, str) and kind.endswith("_error")
