"""The words of what a server offers: tools, prompts, resources, and its own name.

Everything is read: names, keys, choices, unknown members. Names that say nothing by themselves are
left out, but not what several of them say together. Pure.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from taskshield.adapters.parsing import encoded_text
from taskshield.adapters.parsing.json_reader import Field, checked
from taskshield.core.errors import WireFormatError
from taskshield.integrations.mcp.words.joints import ROW, across, columns, is_fragment, shown
from taskshield.integrations.mcp.words.spelling import readings, spelled

_SCHEMA_TYPES = frozenset(
    {"array", "boolean", "integer", "null", "number", "object", "string", "audio", "image", "text"}
)
_MEMBERS = frozenset(
    {
        *("$defs", "$id", "$ref", "$schema", "_meta", "additionalProperties", "allOf", "anyOf"),
        *("annotations", "arguments", "const", "default", "description", "enum", "examples"),
        *(
            "execution",
            "format",
            "icons",
            "inputSchema",
            "items",
            "maximum",
            "maxLength",
            "mimeType",
        ),
        *("minimum", "minLength", "name", "oneOf", "outputSchema", "pattern", "properties"),
        *("required", "size", "title", "type", "uri", "uriTemplate", "version"),
    }
)
"""Usual names of members in MCP and in JSON Schema."""
_DIALECT = re.compile(r"https?://json-schema\.org/(?:draft[\d/-]{0,12}/)?schema#?", re.ASCII)
_LONGEST = 200_000
"""Most characters of an offer."""


def sentences_of(offer: object) -> list[str]:
    """All that an offer says, each sentence once.

    Raises:
        WireFormatError: It is nested too deeply, or it is too long.
    """
    value = checked(Field(value=offer, key="offer")).value
    if length_of(value) > _LONGEST:
        raise WireFormatError(f"offer: more than {_LONGEST} characters")
    return list(dict.fromkeys(_said(value, "")))


def length_of(value: Any) -> int:
    """The number of characters in an offer, without its pictures."""
    if isinstance(value, str):
        return 0 if value.startswith("data:image/") else len(value)
    if isinstance(value, list):
        return sum(map(length_of, value))
    if isinstance(value, Mapping):
        return sum(len(name) + length_of(member) for name, member in value.items())
    return 0


def _said(value: Any, key: str) -> Iterator[str]:
    if isinstance(value, str):
        if not _is_closed(value, key):
            yield from _read(value)
    elif isinstance(value, list):
        yield from _row([text for element in value if (text := shown(element))])
        yield from columns(value)
        numbers = encoded_text.spelled(value)
        yield from () if numbers is None else [numbers]
        for element in value:
            yield from _said(element, key)
    elif isinstance(value, Mapping):
        own = [name for name in value if name not in _MEMBERS]
        yield from _row([spelled(name) if name.isascii() else name for name in own])
        for name, member in value.items():
            yield from _read(name)
            yield from _said(member, name)


def _read(text: str) -> list[str]:
    plain = encoded_text.decoded(text)
    return readings(text if plain is None else plain)


def _row(texts: list[str]) -> Iterator[str]:
    """What short texts side by side say together."""
    short = [text for text in texts if is_fragment(text)]
    if len(short) >= ROW:
        yield from across(short)


def _is_closed(value: str, key: str) -> bool:
    """Whether a text only says how a schema or a picture is to be read."""
    match key:
        case "type":
            return value in _SCHEMA_TYPES
        case "$schema":
            return _DIALECT.fullmatch(value) is not None
        case _:
            return key == "src" and _is_picture(value)


def _is_picture(source: str) -> bool:
    return source.startswith("data:image/") and encoded_text.is_media(source)
