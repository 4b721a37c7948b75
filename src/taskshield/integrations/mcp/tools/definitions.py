"""Tool definitions of MCP servers: their words, their hash, and a copy without the words."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from taskshield.adapters.parsing import tool_specs
from taskshield.adapters.parsing.json_reader import Field, checked
from taskshield.core.messages import digest
from taskshield.core.tools import ToolSpec

_PINNED = ("name", "description", "inputSchema", "annotations")
"""The members that are hashed. Protocols before 2025-06 do not have the others, and a client that
uses one of them must not see every tool as changed."""
_UNPINNED = ("title", "outputSchema")
"""Other members that an agent may read."""
_PROSE = frozenset({"$comment", "description", "examples", "title"})
"""Members of a schema that only readers need."""
_ONE_WORD = re.compile(r"[\w$.:/#{}\[\]?*+^|\\-]{0,64}", re.ASCII)
"""Names, types, formats, addresses and patterns: texts that cannot be a sentence."""

Definition = Mapping[str, Any]


def spec_of(definition: Definition) -> ToolSpec:
    """The tool as the engine describes it.

    Raises:
        WireFormatError: This is not a tool definition.
    """
    field = checked(Field(value={**definition, "type": "function"}, key="tool"))
    (spec,) = tool_specs.read([field])
    return spec


def digest_of(definition: Definition) -> str:
    """The hash of a definition: of its name, description, arguments and annotations."""
    pinned = {key: definition.get(key) for key in _PINNED}
    return digest(json.dumps(pinned, sort_keys=True))


def words_of(definition: Definition) -> list[str]:
    """All texts of a definition that may be sentences, keys included."""
    return _sentences(definition, (*_PINNED, *_UNPINNED))


def unpinned_words_of(definition: Definition) -> list[str]:
    """The texts among them that are not part of the hash."""
    return _sentences(definition, _UNPINNED)


def without_words(definition: Definition, note: str) -> dict[str, Any]:
    """The definition with a note instead of its words."""
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
        # A parameter may be named "description"; its value is a schema then, not a text.
        return {
            key: _without_prose(member)
            for key, member in value.items()
            if key not in _PROSE or isinstance(member, Mapping)
        }
    return value
