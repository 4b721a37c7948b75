"""The words of what a server sends: every text and every key, wherever they stand.

Owns which texts are no words: those with values from a closed set, and media. What only clients
evaluate is read like the rest, because a client may show it to its agent. Pure.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from taskshield.adapters.parsing.json_reader import Field, checked
from taskshield.core.errors import WireFormatError
from taskshield.integrations.mcp.words import blobs
from taskshield.integrations.mcp.words.joints import across, is_fragment
from taskshield.integrations.mcp.words.spelling import is_plain, readings, spelled

DATA = "structuredContent"
"""The JSON that a tool returns. MCP defines the meaning of all other members."""
_TYPES = frozenset(
    {
        *("audio", "image", "object", "resource", "resource_link", "text"),
        *("tool_result", "tool_use"),
    }
)
_MEDIA_TYPES = frozenset(
    {
        *("application/json", "application/octet-stream", "application/pdf", "application/xml"),
        *("audio/mpeg", "audio/wav", "image/gif", "image/jpeg", "image/png", "image/svg+xml"),
        *("image/webp", "text/csv", "text/html", "text/markdown", "text/plain", "text/xml"),
    }
)
_CLOSED: Mapping[str, frozenset[str]] = {
    "audience": frozenset({"assistant", "user"}),
    "cacheScope": frozenset({"private", "public"}),
    "mimeType": _MEDIA_TYPES,
    "resultType": frozenset({"complete", "input_required", "task"}),
    "role": frozenset({"assistant", "user"}),
    "type": _TYPES,
}
"""Members with values that say how a message is built. Other values of theirs are read."""
_DATE = re.compile(r"[\d:TZ.+-]{1,40}", re.ASCII)
_MEDIA = frozenset({"blob", "data"})
"""Members with base64."""
_IMAGE = re.compile(r"data:image/(?!svg)[a-z+.-]{1,20};base64,", re.ASCII)
_MEMBERS = frozenset(
    {
        *("_meta", "annotations", "blob", "content", "contents", "data", "description", "icons"),
        *("isError", "message", "messages", "mimeType", "name", "resource", "resultType", "role"),
        *("size", "structuredContent", "text", "title", "type", "uri"),
    }
)
"""Usual names of members in MCP."""
_LONGEST_KEY = 10_000
_ROW = 4
"""Fewest keys of an object that may be a sentence together. Of its texts, more are needed."""
_MOST_TEXTS = 50_000
"""Most texts, keys included, in one message of a server."""

Change = Callable[[str], str]

_Part = Literal["message", "data", "metadata"]
_PARTS: Mapping[str, _Part] = {DATA: "data", "_meta": "metadata"}
"""Members whose names and texts MCP does not define."""


@dataclass(slots=True)
class Words:
    """The words of one message."""

    texts: list[str] = field(default_factory=list)
    """The texts, in the order in which they are read."""
    beside: list[str] = field(default_factory=list)
    """What else the message says, without a place in which it could be changed."""
    unreadable: list[str] = field(default_factory=list)
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
    checked(Field(value=dict(message), key="message"))
    words = Words()

    def take(text: str) -> str:
        words.texts.append(text)
        return text

    _Walk(take, words.unreadable).through(message)
    words.beside = list(dict.fromkeys(_beside(message)))
    if len(words.texts) + len(words.beside) > _MOST_TEXTS:
        raise WireFormatError(f"message: more than {_MOST_TEXTS} texts")
    return words


def with_texts(message: Mapping[str, Any], texts: Iterable[str]) -> dict[str, Any]:
    """The same message with these texts instead of its own, in the order of `words_of`."""
    given = iter(texts)
    changed: dict[str, Any] = _Walk(lambda text: next(given), []).through(message)
    return changed


class _Walk:
    """A walk through a message that changes its texts."""

    def __init__(self, change: Change, unreadable: list[str]) -> None:
        self._change = change
        self._unreadable = unreadable

    def through(
        self,
        value: Any,
        key: str = "",
        owner: Mapping[str, Any] | None = None,
        part: _Part = "message",
    ) -> Any:
        """The same value with changed texts.

        Args:
            value: A part of the message.
            key: Its name in its owner.
            owner: The object that it is part of; None for the message.
            part: What it is inside of.
        """
        if isinstance(value, str):
            return self._text(value, key, {} if owner is None else owner, part)
        if isinstance(value, list):
            return [self.through(element, key, owner, part) for element in value]
        if not isinstance(value, Mapping):
            return value
        return {
            name: self.through(
                member, name, value, _PARTS.get(name, part) if part == "message" else part
            )
            for name, member in value.items()
        }

    def _text(self, value: str, key: str, owner: Mapping[str, Any], part: _Part) -> str:
        match part:
            case _ if not value:
                return value
            case "data":
                return self._change(value)
            case "metadata":  # names of servers, versions, ids
                return value if is_plain(value) else self._change(value)
            case "message":
                return self._label(value, key, owner)

    def _label(self, value: str, key: str, owner: Mapping[str, Any]) -> str:
        if value in _CLOSED.get(key, ()) or (key == "lastModified" and _DATE.fullmatch(value)):
            return value
        if key in _MEDIA or (key == "src" and _IMAGE.match(value)):
            return self._media(value, key, owner)
        return self._change(value)

    def _media(self, value: str, key: str, owner: Mapping[str, Any]) -> str:
        start = value.partition(",")[0] + "," if key == "src" else ""
        data = blobs.data_of(value.removeprefix(start))
        if data is None:
            return self._change(value)
        text = blobs.text_of(data, owner)
        if text is None:
            kind = owner.get("type")
            self._unreadable.append(kind if kind in ("audio", "image") else key)
            return value
        changed = self._change(text) if text else text
        return value if changed == text else start + blobs.encoded(changed)


def _beside(value: Any) -> Iterator[str]:
    """Keys that speak, and what keys and texts say together."""
    if isinstance(value, Mapping):
        own = [key for key in value if key not in _MEMBERS]
        if any(len(key) > _LONGEST_KEY for key in own):
            raise WireFormatError(f"message: a key of more than {_LONGEST_KEY} characters")
        for key in own:
            yield from readings(key)
        keys = [spelled(key) if key.isascii() else key for key in own]
        if len(keys) >= _ROW:
            yield from across(keys)
        words = [word for word in value.values() if isinstance(word, str) and _is_word(word)]
        if len(words) > _ROW:
            yield from across(words)
        for member in value.values():
            yield from _beside(member)
    elif isinstance(value, list):
        rows = [text for element in value if (text := _shown(element))]
        yield from across(rows, loose=not all(isinstance(element, str) for element in value))
        for element in value:
            yield from _beside(element)


def _is_word(text: str) -> bool:
    return is_fragment(text) and len(text.split(None, 1)) == 1


def _shown(element: Any) -> str | None:
    """The text that a client shows for an element of a list."""
    if isinstance(element, str):
        return element
    if not isinstance(element, Mapping):
        return None
    if isinstance(element.get("text"), str):
        return str(element["text"])
    return _shown(element.get("content")) or _shown(element.get("resource"))
