"""Detects the format of a conversation and reads it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from taskshield.adapters.conversations import anthropic_messages, native, openai_chat
from taskshield.core.messages import Conversation

Format = Literal["openai-chat", "anthropic-messages", "taskshield"]
"""A way to write a conversation.

- openai-chat: a request for OpenAI's chat completions, or a bare list of its messages
- anthropic-messages: the same for Anthropic's messages
- taskshield: our own, see `native`
"""

_PARSERS: Mapping[Format, Callable[[object], Conversation]] = {
    "openai-chat": openai_chat.parse,
    "anthropic-messages": anthropic_messages.parse,
    "taskshield": native.parse,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Detected:
    """A conversation and the format it was in."""

    format: Format
    conversation: Conversation


def parse(payload: object) -> Detected:
    """Read a conversation in whichever of the formats it is written.

    Raises:
        WireFormatError: It is in none of them; the message names the path of what is wrong.
    """
    found = detect(payload)
    return Detected(format=found, conversation=_PARSERS[found](payload))


def detect(payload: object) -> Format:
    """The format, by the signs that only one of them has. Plain text messages are OpenAI's.

    Says nothing about whether the payload is in order: reading it shows that.
    """
    if isinstance(payload, dict) and "taskshield" in payload:
        return "taskshield"
    if _is_anthropic(payload):
        return "anthropic-messages"
    return "openai-chat"


def _is_anthropic(payload: object) -> bool:
    body = payload if isinstance(payload, dict) else {"messages": payload}
    if "system" in body and "messages" in body:
        return True
    if any("input_schema" in tool for tool in _objects(body.get("tools"))):
        return True
    return any(
        _is_anthropic_block(block.get("type"))
        for message in _objects(body.get("messages"))
        # Tool output does not count: the client did not choose its content.
        if message.get("role") in ("user", "assistant")
        for block in _objects(message.get("content"))
    )


def _is_anthropic_block(kind: object) -> bool:
    known = anthropic_messages.CALLS | anthropic_messages.REASONING
    return isinstance(kind, str) and (kind in known or anthropic_messages.is_result(kind))


def _objects(value: object) -> Iterator[dict[object, object]]:
    items = value if isinstance(value, list) else []
    return (item for item in items if isinstance(item, dict))
