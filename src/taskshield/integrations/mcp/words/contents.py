"""The words of what a server sends: every text and every key, wherever they stand.

`adapters.parsing.tool_output` reads them, as in every other format. Owns what MCP adds to them:
limits, names that speak, and sentences that are spread over several texts. Pure.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from taskshield.adapters.output_redaction import REMOVED
from taskshield.adapters.parsing.json_reader import Field, checked
from taskshield.adapters.parsing.tool_output import (
    output_parts,
    with_changed_words,
    words_of_key,
)
from taskshield.core.errors import WireFormatError
from taskshield.core.messages import Opaque, Text
from taskshield.integrations.mcp.words.joints import ROW, across, columns, is_word, shown
from taskshield.integrations.mcp.words.spelling import readings, spelled

DATA = "structuredContent"
"""The JSON that a tool returns. MCP defines the meaning of all other members."""
_MEMBERS = frozenset(
    {
        *("_meta", "annotations", "blob", "content", "contents", "data", "description", "icons"),
        *("isError", "message", "messages", "mimeType", "name", "resource", "resultType", "role"),
        *("size", "structuredContent", "text", "title", "type", "uri"),
    }
)
"""Usual names of members in MCP."""
_LONGEST_KEY = 10_000
_MOST_TEXTS = 50_000
"""Most texts, keys included, in one message of a server."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The words of one message."""

    texts: tuple[str, ...]
    """The texts, in the order in which they are read."""
    beside: tuple[str, ...]
    """What else the message says, without a place in which it could be changed."""
    unreadable: tuple[str, ...]
    """Kinds of media that a judge cannot read."""

    @property
    def all(self) -> list[str]:
        """Everything that it says."""
        return [*self.texts, *self.beside]


def words_of(message: Mapping[str, Any]) -> Words:
    """The words of a message.

    Raises:
        WireFormatError: It is nested too deeply, or has too many texts.
    """
    parts = list(output_parts(_root(message)))
    texts = tuple(part.text for part in parts if isinstance(part, Text))
    beside = tuple(dict.fromkeys(_beside(message)))
    if len(texts) + len(beside) > _MOST_TEXTS:
        raise WireFormatError(f"message: more than {_MOST_TEXTS} texts")
    unreadable = tuple(part.kind for part in parts if isinstance(part, Opaque))
    return Words(texts=texts, beside=beside, unreadable=unreadable)


def with_texts(message: Mapping[str, Any], texts: Iterable[str]) -> dict[str, Any]:
    """The same message with these texts instead of its own, in the order of `words_of`."""
    given = iter(texts)
    changed = with_changed_words(_root(message), lambda text: next(given), gone=REMOVED)
    assert isinstance(changed, dict)
    return changed


def _root(message: Mapping[str, Any]) -> Field:
    return checked(Field(value=dict(message), key="message"))


def _beside(value: Any) -> Iterator[str]:
    """Names that speak, and what keys and texts say together."""
    if isinstance(value, Mapping):
        own = [key for key in value if key not in _MEMBERS]
        if any(len(key) > _LONGEST_KEY for key in own):
            raise WireFormatError(f"message: a key of more than {_LONGEST_KEY} characters")
        for key in own:
            yield from readings(key) if words_of_key(key) is None else ()
        keys = [spelled(key) if key.isascii() else key for key in own]
        if len(keys) >= ROW:
            yield from across(keys)
        words = [word for word in value.values() if isinstance(word, str) and is_word(word)]
        if len(words) > ROW:
            yield from across(words)
        for member in value.values():
            yield from _beside(member)
    elif isinstance(value, list):
        rows = [text for element in value if (text := shown(element))]
        yield from across(rows, loose=not all(isinstance(element, str) for element in value))
        yield from columns(value)
        for element in value:
            yield from _beside(element)
