"""Tool definitions of MCP servers: their words, their hash, and a copy without the words."""

import json
from collections.abc import Mapping
from typing import Any

from taskshield.adapters.parsing import tool_specs
from taskshield.adapters.parsing.json_reader import Field, checked
from taskshield.core.messages import digest
from taskshield.core.tools import ToolSpec
from taskshield.integrations.mcp.words.offers import sentences_of

_PINNED = ("name", "description", "inputSchema", "annotations")
"""The members that are hashed. Protocols before 2025-06 do not have the others, and a client that
uses one of them must not see every tool as changed."""
_SCHEMAS = ("inputSchema", "outputSchema")
_PROSE = frozenset({"$comment", "description", "examples", "title"})
"""Members of a schema that only readers need."""

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
    """All that a definition says: every text, names, keys and unknown members included."""
    pinned = {key: definition[key] for key in _PINNED if key in definition}
    return [*sentences_of(pinned), *unpinned_words_of(definition)]


def unpinned_words_of(definition: Definition) -> list[str]:
    """What it says in members that are not part of the hash."""
    return sentences_of({key: definition[key] for key in definition if key not in _PINNED})


def without_words(definition: Definition, note: str) -> dict[str, Any]:
    """The definition with a note instead of its words. Unknown members are words."""
    bare = {key: _without_prose(definition[key]) for key in _SCHEMAS if key in definition}
    hints = definition.get("annotations")
    if isinstance(hints, Mapping):
        bare["annotations"] = {key: hint for key, hint in hints.items() if isinstance(hint, bool)}
    return {"name": definition["name"], **bare, "description": note}


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
