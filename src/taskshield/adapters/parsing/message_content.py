"""What a message says, on wires that leave the shape of its content open."""

from collections.abc import Iterator, Sequence

from taskshield.adapters.parsing.json_reader import Field
from taskshield.core.messages import Opaque, Part, Text, ToolCall


def spoken(content: Field) -> Iterator[Part]:
    """The words of a user, a system prompt or an assistant, and what cannot be read.

    Only what is plainly text is read as words: what stands in other members may be data of
    somebody else, and must not speak with this message's privilege. Output of tools is read by
    `tool_output`, which takes in every word.
    """
    if isinstance(content.value, str):
        yield Text(text=content.value)
    elif isinstance(content.value, list):
        for element in content.elements():
            yield from spoken(element)
    elif isinstance(content.value, dict):
        if content["text"].given:
            yield Text(text=content["text"].text())
        elif content["content"].given:
            yield from spoken(content["content"])
        else:
            yield Opaque(kind=content["type"].text_or("object"))
    elif content.given:
        raise content.wrong("text, an object or a list")


def distinct(calls: Sequence[ToolCall], field: Field) -> tuple[ToolCall, ...]:
    """The calls of one message, which must be told apart by their ids."""
    if len({call.id for call in calls}) < len(calls):
        raise field.refused("two tool calls of one message share an id")
    return tuple(calls)
