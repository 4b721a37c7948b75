"""Reads messages in any of the usual shapes of logs.

Tracers record what a framework gave them: messages of OpenAI, Anthropic, LangChain or
OpenTelemetry, as a list, alone, in a model's response, or as bare text. Another object is read as
text only where it holds a single text.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from taskshield.adapters.conversations import detect, openai_responses, response_items
from taskshield.adapters.parsing import tool_specs
from taskshield.adapters.parsing.json_reader import Field, json_text
from taskshield.adapters.traces import langchain_messages, message_parts
from taskshield.core.levels import Level
from taskshield.core.messages import Message, ToolCall, text_message
from taskshield.core.tools import ToolSpec

_WRAPPERS = (
    "messages",
    "message",
    "input",
    "output",
    "prompts",
    "prompt",
    "text",
    "content",
    "question",
    "query",
)
"""Where objects around messages or a text keep them, the likeliest first."""


def given(field: Field) -> tuple[Message, ...]:
    """What a model or an agent was given. Bare text is the user's."""
    return _read(field, Level.USER)


def answered(field: Field) -> tuple[Message, ...]:
    """What a model or an agent answered. Bare text is the assistant's, alternatives are joined."""
    return _joined(_read(field, Level.ASSISTANT))


def as_chat(payload: object) -> object:
    """A list of messages, or an object that holds one, with LangChain's rewritten as OpenAI's."""
    if isinstance(payload, dict) and "messages" in payload:
        return {**payload, "messages": as_chat(payload["messages"])}
    if not isinstance(payload, list):
        return payload
    return [langchain_messages.as_chat(one) if isinstance(one, dict) else one for one in payload]


def tools(field: Field) -> tuple[ToolSpec, ...]:
    """The tools that a model had; a list of something else holds none."""
    if not isinstance(field.value, list):
        return ()
    named = (tool for tool in field.elements() if isinstance(tool.value, dict))
    return tool_specs.read(tool for tool in named if _has_name(tool.mapping()))


def is_messages(value: object) -> bool:
    """Whether this is a list that begins with a message."""
    return isinstance(value, list) and bool(value) and _is_message(value[0])


def _read(field: Field, speaker: Level) -> tuple[Message, ...]:
    value = field.value
    if isinstance(value, str):
        return (text_message(speaker, value),) if value else ()
    if isinstance(value, list):
        return _of_list(field, speaker)
    if isinstance(value, dict):
        return _of_object(field, speaker)
    return ()


def _of_list(field: Field, speaker: Level) -> tuple[Message, ...]:
    elements = list(field.elements())
    if not elements:
        return ()
    if isinstance(elements[0].value, list):  # LangChain asks models with batches, of one mostly
        return _read(elements[0], speaker)
    if isinstance(elements[0].value, str):
        return tuple(message for each in elements for message in _read(each, speaker))
    if any("parts" in each.mapping() for each in elements):
        return tuple(message_parts.read(elements))
    if any(_is_item(each.value) for each in elements):
        return openai_responses.parse(field.value).messages
    if not all(_is_message(each.value) for each in elements):
        return tuple(message for each in elements for message in _of_object(each, speaker))
    return detect.parse(as_chat(field.value)).conversation.messages


def _of_object(field: Field, speaker: Level) -> tuple[Message, ...]:
    body = field.mapping()
    if _is_message(body):
        return _of_list(Field(value=[body], key=field.key, parent=field.parent), speaker)
    for key in ("choices", "generations"):
        if isinstance(body.get(key), list):
            return _of_choices(field[key], speaker)
    if isinstance(body.get("messages"), list) and "system" in body:
        return detect.parse({**body}).conversation.messages
    for key in _WRAPPERS:
        if body.get(key):
            return _read(field[key], speaker)
    if speaker is Level.ASSISTANT and body:  # an answer in a shape of its own: data, not words
        return (text_message(speaker, json_text(field)),)
    texts = [member for member in field.members() if isinstance(member.value, str)]
    return _read(texts[0], speaker) if len(texts) == 1 else ()


def _of_choices(choices: Field, speaker: Level) -> tuple[Message, ...]:
    """Answers of a model; LangChain has a list of them for each question of a batch."""
    listed = list(choices.elements())
    if listed and isinstance(listed[0].value, list):
        listed = list(listed[0].elements())
    found: list[Message] = []
    for choice in listed:
        said = choice["message"]
        found += _read(said if said.given else choice["text"], speaker)
    return tuple(found)


def _is_message(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    return isinstance(value.get("role"), str) or langchain_messages.is_message(value)


def _is_item(value: object) -> bool:
    """Whether this can only be an item of OpenAI's Responses."""
    kind = value.get("type") if isinstance(value, dict) else None
    silent = kind in ("reasoning", "item_reference")
    return silent or response_items.is_call(kind) or response_items.is_output(kind)


def _has_name(tool: Mapping[str, Any]) -> bool:
    nested = tool.get("function")
    return isinstance((nested if isinstance(nested, dict) else tool).get("name"), str)


def _joined(messages: Iterable[Message]) -> tuple[Message, ...]:
    """The messages with those of the assistant that follow each other made one."""
    joined: list[Message] = []
    for message in messages:
        before = joined[-1] if joined else None
        if before is not None and before.level is message.level is Level.ASSISTANT:
            calls = {call.id: call for call in (*before.tool_calls, *message.tool_calls)}
            joined[-1] = _added(before, message, tuple(calls.values()))
        else:
            joined.append(message)
    return tuple(joined)


def _added(before: Message, message: Message, calls: tuple[ToolCall, ...]) -> Message:
    return replace(before, parts=(*before.parts, *message.parts), tool_calls=calls)
