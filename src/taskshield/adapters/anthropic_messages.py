"""Anthropic messages: the body of a request, or just its messages.

One message on this wire may carry words of several levels. Each result of a tool becomes a message
of its own at tool level, whoever's message it stood in; what is before and after keeps its order.
The agent's reasoning is left out: no judge may take it for a fact.
"""

from collections.abc import Iterator

from taskshield.adapters import tool_specs
from taskshield.adapters.reading import (
    Field,
    arguments,
    call_id,
    filled,
    only_assistant_calls,
    part,
    root_of,
)
from taskshield.core.levels import Level
from taskshield.core.messages import Conversation, Message, Opaque, Part, Text, ToolCall

_LEVELS = {"system": Level.SYSTEM, "user": Level.USER, "assistant": Level.ASSISTANT}
_WORDS = {"text": "text"}
CALLS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
REASONING = frozenset({"thinking", "redacted_thinking"})

_LABELS = frozenset(
    {
        "cache_control",
        "caller",
        "citations",
        "id",
        "is_error",
        "media_type",
        "mimeType",
        "tool_use_id",
        "toolset_name",
        "type",
    }
)
"""Members of a result that say how it is built and hold no words for the agent."""
_UNREADABLE = frozenset({"blob", "data", "file_id", "signature"})
_MEDIA_SOURCES = frozenset({"base64", "file", "url"})


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
    return Message(
        level=Level.TOOL,
        parts=filled(_output(block)),
        answers=block["tool_use_id"].text_or("") or None,
        is_error=block["is_error"].flag() is True or _is_error(block["content"].value),
    )


def _is_error(content: object) -> bool:
    """Server tools report a failure by the type of what stands in place of the result."""
    kind = content.get("type") if isinstance(content, dict) else None
    return isinstance(kind, str) and kind.endswith("_error")


def _output(field: Field) -> Iterator[Part]:
    """All the words in a result, however it is built.

    Types of results come and go, so this reads every string but for those known to hold no words.
    """
    if isinstance(field.value, str):
        yield Text(text=field.value)
    elif isinstance(field.value, list):
        for element in field.elements():
            yield from _output(element)
    elif isinstance(field.value, dict):
        kind = field.value.get("type")
        for member in field.members():
            if member.key == "source" and _is_media(member.value):
                yield Opaque(kind=kind if isinstance(kind, str) else "source")
            elif member.key == "data" and kind == "text":
                yield from _output(member)
            elif _is_unreadable(str(member.key)):
                yield Opaque(kind=str(member.key))
            elif member.key not in _LABELS:
                yield from _output(member)


def _is_media(source: object) -> bool:
    kind = source.get("type") if isinstance(source, dict) else None
    return isinstance(kind, str) and kind in _MEDIA_SOURCES


def _is_unreadable(key: str) -> bool:
    return key in _UNREADABLE or key.startswith("encrypted_")
