"""Detects the format of a record and reads its conversations, or parts of one."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from taskshield.adapters.conversations import detect, openai_responses
from taskshield.adapters.parsing.json_reader import Field, checked
from taskshield.adapters.traces import (
    agentdojo_runs,
    any_messages,
    inspect_log,
    langfuse,
    langsmith,
    otel_genai,
    request_logs,
)
from taskshield.adapters.traces.assembly import Piece
from taskshield.core.levels import Level
from taskshield.core.messages import Conversation, text_message

Format = Literal[
    "openai-chat",
    "anthropic-messages",
    "taskshield",
    "openai-responses",
    "exchanges",
    "opentelemetry",
    "langsmith",
    "langfuse",
    "inspect",
    "agentdojo",
]
"""A log format.

- openai-chat, anthropic-messages, taskshield: a conversation each, as `adapters.detect` knows them
- openai-responses: a request of OpenAI's Responses
- exchanges: requests together with their responses, in any of these wire formats
- opentelemetry, langsmith, langfuse: spans, runs and observations of a tracer
- inspect: samples of an Inspect log
- agentdojo: recorded runs of AgentDojo
"""

_IDS = ("conversation_id", "thread_id", "session_id", "id", "custom_id")
_LISTS = ("runs", "data")
"""Keys of lists in API answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """A whole conversation."""

    format: Format
    id: str
    """Its id in the log. Empty if it has none."""
    conversation: Conversation


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A step of a conversation. Other records have the other steps."""

    format: Format
    piece: Piece


Unread = Callable[[], Whole | Part | None]
"""Reads one item of a record. None if it does not belong to a conversation.

Raises `WireFormatError` if it does not have the format that was detected.
"""


def split(payload: object, number: int) -> Iterator[Unread]:
    """The items of a record. Each is read later, so a broken one does not affect the others.

    Args:
        payload: The record.
        number: Its place in the file.

    Raises:
        WireFormatError: The format of the record is unknown.
    """
    return _split(checked(Field(value=payload, key="record")), number)


def _split(field: Field, number: int) -> Iterator[Unread]:
    value = field.value
    if isinstance(value, list):
        if any_messages.is_messages(value):
            yield partial(_chat, field)
        else:
            for element in field.elements():
                yield from _split(element, number)
    elif isinstance(value, dict):
        yield from _split_object(field, value, number)
    else:
        raise field.wrong("an object or a list")


def _split_object(field: Field, value: dict[str, Any], number: int) -> Iterator[Unread]:
    if otel_genai.is_batch(value):
        for record in otel_genai.records(field):
            yield partial(_piece, "opentelemetry", otel_genai.read, record)
    elif otel_genai.is_record(value):
        yield partial(_piece, "opentelemetry", otel_genai.read, field)
    elif langsmith.is_run(value):
        for run in langsmith.runs(field):
            yield partial(_piece, "langsmith", langsmith.read, run)
    elif langfuse.is_trace(value):
        for observation in langfuse.observations(field):
            yield partial(_piece, "langfuse", langfuse.read, observation)
    elif langfuse.is_observation(value):
        yield partial(_piece, "langfuse", langfuse.read, field)
    elif inspect_log.is_log(value):
        for sample in inspect_log.samples(field):
            yield partial(_sample, sample)
    elif inspect_log.is_sample(value):
        yield partial(_sample, field)
    elif {"suite_name", "pipeline_name", "messages"} <= value.keys():
        yield partial(_agentdojo, field)
    elif request_logs.is_exchange(value):
        yield partial(_piece, "exchanges", partial(request_logs.read, number=number), field)
    elif "messages" in value:
        yield partial(_chat, field)
    elif _is_responses_request(value):
        yield partial(_responses, field)
    elif any(isinstance(value.get(key), list) for key in _LISTS):
        for key in _LISTS:
            for element in field[key].elements():
                yield from _split(element, number)
    elif langfuse.is_other_export(value):
        yield _nothing
    else:
        raise field.refused("in no format that is known")


def _piece(format: Format, read: Callable[[Field], Piece | None], field: Field) -> Part | None:
    piece = read(field)
    return None if piece is None else Part(format=format, piece=piece)


def _chat(field: Field) -> Whole:
    found = detect.parse(any_messages.as_chat(field.value))
    return Whole(format=found.format, id=_id(field), conversation=found.conversation)


def _is_responses_request(value: dict[str, Any]) -> bool:
    return "input" in value and any(key in value for key in ("model", "instructions", "tools"))


def _responses(field: Field) -> Whole:
    conversation = openai_responses.parse(field.value)
    return Whole(format="openai-responses", id=_id(field), conversation=conversation)


def _sample(field: Field) -> Whole:
    conversation = inspect_log.parse(field)
    return Whole(format="inspect", id=inspect_log.name(field), conversation=conversation)


def _agentdojo(field: Field) -> Whole:
    run = agentdojo_runs.parse(field.value)
    names = (run.suite, run.pipeline, run.user_task, run.attack, run.injection_task)
    messages = (text_message(Level.SYSTEM, run.system), *run.messages)
    return Whole(
        format="agentdojo",
        id="/".join(name for name in names if name),
        conversation=Conversation(messages=messages),
    )


def _nothing() -> None:
    return None


def _id(field: Field) -> str:
    if not isinstance(field.value, dict):
        return ""
    given = (field.value.get(key) for key in _IDS)
    return next((str(id) for id in given if isinstance(id, str | int) and id), "")
