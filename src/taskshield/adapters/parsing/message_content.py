"""The content of a message, in wire formats that leave its shape open."""

from collections.abc import Iterator, Sequence

from taskshield.adapters.parsing.json_reader import Field
from taskshield.core.messages import Opaque, Part, Text, ToolCall


def readable_parts(content: Field) -> Iterator[Part]:
    """The text of a user, system or assistant message, and the parts that cannot be read.

    Only members that hold plain text are read. Other members may hold data from third parties,
    which must not get this message's privilege. Tool output is read by `tool_output`, which takes
    every string.
    """
    if isinstance(content.value, str):
        yield Text(text=content.value)
    elif isinstance(content.value, list):
        for element in content.elements():
            yield from readable_parts(element)
    elif isinstance(content.value, dict):
        if content["text"].given:
            yield Text(text=content["text"].text())
        elif content["content"].given:
            yield from readable_parts(content["content"])
        else:
            yield Opaque(kind=content["type"].text_or("object"))
    elif content.given:
        raise content.wrong("text, an object or a list")


def with_distinct_ids(calls: Sequence[ToolCall], field: Field) -> tuple[ToolCall, ...]:
    """The calls of one message, each of which must have an id of its own."""
    if len({call.id for call in calls}) < len(calls):
        raise field.refused("two tool calls share an id; give each call of a message its own")
    return tuple(calls)
