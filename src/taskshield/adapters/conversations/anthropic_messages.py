"""Anthropic messages: the body of a request, or just its messages.

One message of this format may hold text of several levels. Each tool result becomes a message of
its own at tool level, whatever the role of the message around it, and so does what a host wrote and
what the user attached. The agent's reasoning is left out: a judge must not treat it as fact.
"""

from collections.abc import Iterator
from typing import TypeAlias

from taskshield.adapters.conversations.host_marks import is_claude_code
from taskshield.adapters.conversations.host_text import arranged, attachment, beside_results
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
_ATTACHED = frozenset({"container_upload", "document", "search_result"})
Path: TypeAlias = tuple[str | int, ...]
CALLS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
REASONING = frozenset({"thinking", "redacted_thinking"})
_ENVELOPE = frozenset({"caller", "tool_use_id", "type"})
"""Members of a result that only say which call it answers; no tool can write them."""


def parse(payload: object) -> Conversation:
    """Read `{"system": ..., "messages": [...], "tools": [...]}` or a bare list of messages.

    Raises:
        WireFormatError: The payload is not in this format; the message names the path.
    """
    return parse_with_paths(payload)[0]


def parse_with_paths(payload: object) -> tuple[Conversation, tuple[Path | None, ...]]:
    """The same, and for each message the path to the result of a tool that it was read from."""
    root = root_of(payload)
    turns = _turns(root)
    tools = tool_specs.read(root["tools"].elements())
    conversation = Conversation(messages=tuple(message for message, _ in turns), tools=tools)
    return conversation, tuple(path for _, path in turns)


def is_result(kind: object) -> bool:
    """Whether blocks of this type hold the output of a tool."""
    return isinstance(kind, str) and (kind == "tool_result" or kind.endswith("_tool_result"))


def _turns(root: Field) -> list[tuple[Message, Path | None]]:
    found: list[tuple[Message, Path | None]] = []
    interruptible = False
    if root["system"].given:
        blocks = list(_blocks(root["system"]))
        interruptible = any(is_claude_code(block["text"].text_or("")) for block in blocks)
        found += _messages(root["system"], Level.SYSTEM, ("system",), interruptible)
    for index, field in enumerate(root["messages"].elements()):
        level = field["role"].choice(_LEVELS)
        path = ("messages", index, "content")
        found += _messages(field["content"], level, path, interruptible)
    return arranged(found)


def _messages(
    content: Field, level: Level, path: Path, interruptible: bool
) -> Iterator[tuple[Message, Path | None]]:
    """The content of one message on the wire, cut where a tool speaks."""
    blocks = list(_blocks(content))
    mixed = level is Level.USER and any(is_result(block["type"].value) for block in blocks)
    parts: list[Part] = []
    calls: list[ToolCall] = []
    attached: list[Message] = []
    called = 0
    whole = True

    def said() -> Iterator[tuple[Message, None]]:
        if mixed:
            yield from ((each, None) for each in beside_results(filled(parts), interruptible))
        elif parts or calls or whole:
            yield Message(level=level, parts=filled(parts), tool_calls=tuple(calls)), None
        yield from ((each, None) for each in attached)

    for number, block in enumerate(blocks):
        kind = block["type"].text()
        if is_result(kind):
            whole = False
            yield from said()
            yield _result(block), (*path, number)
            parts, calls, attached = [], [], []
        elif kind in CALLS:
            if level is not Level.ASSISTANT:
                raise only_assistant_calls(block)
            calls.append(_call(block, int(path[1]) if len(path) > 1 else 0, called))
            called += 1
        elif kind not in REASONING:
            parts.append(part(block, _WORDS))
            words = attachment(block) if level is Level.USER and kind in _ATTACHED else None
            attached += () if words is None else (words,)
    yield from said()


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
