"""The places in which a MCP server can put a value, as readers of a tool's output."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from taskshield.core.levels import Level
from taskshield.core.messages import Message, Opaque, Part, Text
from taskshield.integrations.mcp.requests.results import message_of
from taskshield.integrations.mcp.tools import definitions
from taskshield.integrations.mcp.words.contents import words_of
from taskshield.integrations.mcp.words.offers import sentences_of

_TOOL = {"name": "x", "inputSchema": {"type": "object"}}


def _text(value: Any) -> dict[str, Any]:
    return {"type": "text", "text": json.dumps(value)}


def _offered(sentences: list[str]) -> Message:
    """What is said in an offer; its pictures are for people, so nothing lists them."""
    texts: list[Part] = [Text(text=each) for each in sentences]
    parts = (*texts, Opaque(kind="picture"))
    return Message(level=Level.TOOL, parts=parts)


def _result(build: Callable[[Any], dict[str, Any]]) -> Callable[[Any], Message]:
    return lambda value: message_of(build(value), answers="c")


def _notice(value: Any) -> Message:
    words = words_of({"question": {"level": "info", "data": value}})
    texts = tuple(Text(text=text) for text in words.all)
    unreadable = (Opaque(kind=kind) for kind in words.unreadable)
    return Message(level=Level.TOOL, parts=(*texts, *unreadable))


PLACES: Mapping[str, Callable[[Any], Message]] = {
    "MCP, content": _result(lambda value: {"content": [value]}),
    "MCP, JSON in a text": _result(lambda value: {"content": [_text(value)]}),
    "MCP, data": _result(lambda value: {"content": [], "structuredContent": value}),
    "MCP, metadata": _result(lambda value: {"content": [], "_meta": {"x/y": value}}),
    "MCP, unknown member": _result(lambda value: {"content": [], "remark": value}),
    "MCP, resource": _result(lambda value: {"contents": [value]}),
    "MCP, text of a resource": _result(lambda value: {"contents": [{"uri": "u:", **_text(value)}]}),
    "MCP, prompt": _result(lambda value: {"messages": [{"role": "user", "content": value}]}),
    "MCP, data of an error": _result(lambda value: {"message": "no", "structuredContent": value}),
    "MCP, log": _notice,
    "MCP, tool": lambda value: _offered(definitions.words_of({**_TOOL, "remark": value})),
    "MCP, schema": lambda value: _offered(
        definitions.words_of({**_TOOL, "inputSchema": {"properties": {"a": value}}})
    ),
    "MCP, list": lambda value: _offered(sentences_of([value])),
}
