"""The functions of taskshield that read JSON, streams and messages of other programs, likewise."""

import json
from base64 import b64encode
from collections.abc import Iterable
from typing import Any

from text_functions import Reading, reading

from taskshield.adapters.conversations import anthropic_messages, host_marks, openai_chat
from taskshield.adapters.conversations.openai_responses import turns
from taskshield.adapters.parsing.encoded_text import decoded, is_media
from taskshield.adapters.parsing.json_reader import Field
from taskshield.adapters.parsing.tool_output import output_parts
from taskshield.adapters.proxy import sse, strict_json
from taskshield.core import json_limits
from taskshield.core.errors import TaskShieldError
from taskshield.integrations.mcp.connections.lines import Lines
from taskshield.integrations.mcp.connections.wire import read
from taskshield.integrations.mcp.requests.results import message_of
from taskshield.integrations.mcp.tools.definitions import spec_of, words_of
from taskshield.integrations.mcp.tools.names import can_be_shown, look
from taskshield.integrations.mcp.words.joints import across
from taskshield.integrations.mcp.words.offers import sentences_of
from taskshield.integrations.mcp.words.spelling import readings, spelled

_MOST = 4_000
"""Pieces of a text; formats refuse what has many more."""


def _pieces(text: str) -> list[str]:
    """The text in many short pieces, as words or, if it has none, cut."""
    found = text.split()
    if len(found) < 2:
        found = [text[at : at + 7] for at in range(0, len(text), 7)]
    size = len(found) // _MOST + 1
    return [" ".join(found[at : at + size]) for at in range(0, len(found), size)]


def _chat(text: str) -> object:
    blocks = [{"type": "text", "text": piece} for piece in _pieces(text)]
    messages = [{"role": "user", "content": text}, {"role": "user", "content": blocks}]
    return openai_chat.parse({"messages": messages})


def _anthropic(text: str) -> object:
    blocks: list[Any] = [{"type": "text", "text": piece} for piece in _pieces(text)]
    blocks.append({"type": "tool_result", "tool_use_id": "c", "content": text})
    call = {"type": "tool_use", "id": "c", "name": "f", "input": {"a": text}}
    return anthropic_messages.parse(
        {
            "system": text,
            "messages": [
                {"role": "user", "content": text},
                {"role": "assistant", "content": [call]},
                {"role": "user", "content": blocks},
            ],
        }
    )


def _responses(text: str) -> object:
    items: list[Any] = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]},
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": text},
        {"type": "function_call_output", "call_id": "c", "output": text},
    ]
    return turns({"instructions": text, "input": items})


def _output(text: str) -> object:
    pieces = _pieces(text)
    value = {
        "text": text,
        text[:200]: pieces,
        "rows": [{"type": "text", "text": piece} for piece in pieces],
        "codes": [ord(character) for character in text[: len(text) // 4]],
    }
    return list(output_parts(Field(value=value, key="output")))


def _events(text: str) -> object:
    """A stream that comes in chunks that end anywhere."""
    data, splitter = text.encode("utf-8", "replace"), sse.Splitter()
    size = len(data) // 200 + 1
    found: list[sse.Event] = []
    try:
        for at in range(0, len(data), size):
            found += splitter.feed(data[at : at + size])
        return [*found, *splitter.close()]
    except TaskShieldError as error:
        return error


def _lines(text: str) -> object:
    data, found = text.encode("utf-8", "replace"), Lines(100_000)
    size = len(data) // 200 + 1
    return [list(found.add(data[at : at + size])) for at in range(0, len(data), size)]


def _result(text: str) -> object:
    blocks = [{"type": "text", "text": piece} for piece in _pieces(text)]
    blob = b64encode(text.encode("utf-8", "replace")).decode()
    file = {"type": "resource", "resource": {"uri": "u:", "blob": blob}}
    content = [*blocks, {"type": "text", "text": text}, file]
    result = {"content": content, "structuredContent": {"a": text}}
    try:
        return message_of(result, answers="c")
    except TaskShieldError as error:
        return error


def _definition(text: str) -> dict[str, Any]:
    properties = {piece: {"description": piece} for piece in _pieces(text)}
    schema = {"type": "object", "properties": properties, "description": text}
    return {"name": text[:100], "description": text, "inputSchema": schema}


def _strict(text: str) -> object:
    """JSON that is whole, and JSON that is not."""
    found: list[object] = []
    for one in (json.dumps({"a": text, "b": _pieces(text)}), text):
        try:
            found.append(strict_json.object_of(one))
        except TaskShieldError as error:
            found.append(error)
    return found


def _members(text: str) -> object:
    """A member of an answer with many others in it."""
    pieces = dict.fromkeys(_pieces(text), [{"type": text[:50]}])
    field = Field(value={"a": pieces, **pieces}, key="answer")
    try:
        strict_json.check_members(field)
    except TaskShieldError as error:
        return error
    return field


def _limited(text: str) -> object:
    found: list[object] = []
    pieces = _pieces(text)
    for one in (text, json.dumps([text, pieces]), json.dumps([[each] for each in pieces])):
        try:
            found.append(json_limits.read_json(one))
        except TaskShieldError as error:
            found.append(error)
    return found


def _joined(texts: Iterable[str]) -> list[str]:
    return list(across(texts))


WIRE_FUNCTIONS: tuple[Reading, ...] = (
    reading(openai_chat.parse, _chat),
    reading(anthropic_messages.parse, _anthropic),
    reading(turns, _responses),
    reading(host_marks.pieces),
    reading(host_marks.project_files),
    reading(host_marks.opens_quotation),
    reading(host_marks.ends_quotation),
    reading(host_marks.is_interruption),
    reading(host_marks.is_claude_code),
    reading(decoded),
    reading(is_media, lambda text: is_media("iVBORw0KGgo" + text), "after a file's first bytes"),
    reading(output_parts, _output),
    reading(sse.Splitter.feed, _events),
    reading(strict_json.object_of, _strict),
    reading(strict_json.check_members, _members),
    reading(json_limits.read_json, _limited),
    reading(Lines.add, _lines),
    reading(read, lambda text: read(text.encode("utf-8", "replace"))),
    reading(message_of, _result),
    reading(spec_of, lambda text: spec_of(_definition(text))),
    reading(words_of, lambda text: words_of(_definition(text))),
    reading(can_be_shown),
    reading(look),
    reading(across, lambda text: _joined(_pieces(text))),
    reading(sentences_of, lambda text: sentences_of({"title": text, "list": _pieces(text)})),
    reading(spelled),
    reading(readings),
)
