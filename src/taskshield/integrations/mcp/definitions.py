"""Definitions of tools as MCP servers give them: what they say, their hash, and without words."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from taskshield.adapters.parsing import tool_specs
from taskshield.adapters.parsing.json_reader import Field, checked
from taskshield.core.messages import digest
from taskshield.core.tools import ToolSpec

_PINNED = ("name", "description", "inputSchema", "annotations")
"""What a tool is and does. Protocols before 2025-06 do not have the rest, and a client that speaks
one of them must not see every tool as changed."""
_UNPINNED = ("title", "outputSchema")
"""What else an agent may read of a tool."""
_PROSE = frozenset({"$comment", "description", "examples", "title"})
"""Members of a schema that are there for readers alone."""
_ONE_WORD = re.compile(r"[\w$.:/#{}\[\]?*+^|\\-]{0,64}", re.ASCII)
"""Names, types, formats, addresses and patterns: nothing that could be a sentence."""

Definition = Mapping[str, Any]


def spec_of(definition: Definition) -> ToolSpec:
    """The tool as the engine knows it.

    Raises:
        WireFormatError: This is not the definition of a tool.
    """
    field = checked(Field(value={**definition, "type": "function"}, key="tool"))
    (spec,) = tool_specs.read([field])
    return spec


def digest_of(definition: Definition) -> str:
    """Changes with what a tool is and does."""
    pinned = {key: definition.get(key) for key in _PINNED}
    return digest(json.dumps(pinned, sort_keys=True))


def words_of(definition: Definition) -> list[str]:
    """Every text of a definition that may be a sentence, wherever it stands, keys included."""
    return _sentences(definition, (*_PINNED, *_UNPINNED))


def unpinned_words_of(definition: Definition) -> list[str]:
    """Those of them that can change without the hash."""
    return _sentences(definition, _UNPINNED)


def without_words(definition: Definition, note: str) -> dict[str, Any]:
    """The definition with a note in place of what it says to readers."""
    bare = {key: _without_prose(value) for key, value in definition.items() if key not in _PROSE}
    return {**bare, "description": note}


def _sentences(definition: Definition, members: Sequence[str]) -> list[str]:
    texts = (text for member in members for text in _texts(definition.get(member)))
    return [text for text in texts if not _ONE_WORD.fullmatch(text)]


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for element in value:
            yield from _texts(element)
    elif isinstance(value, Mapping):
        for key, member in value.items():
            yield str(key)
            yield from _texts(member)


def _without_prose(value: object) -> object:
    if isinstance(value, list):
        return [_without_prose(element) for element in value]
    if isinstance(value, Mapping):
        # A parameter may be called "description"; then it has a schema and not a text.
        return {
            key: _without_prose(member)
            for key, member in value.items()
            if key not in _PROSE or isinstance(member, Mapping)
        }
    return value
