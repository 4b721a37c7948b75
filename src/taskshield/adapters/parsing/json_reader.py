"""Reads JSON from outside: requests, logs and stored values.

Owns the checks that every wire format needs, and errors that name the path of what is wrong. What a
format's fields mean belongs to the adapter of that format. No error carries a value that was read:
only paths, the type that was needed, and the type that was found.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from taskshield.core.errors import WireFormatError
from taskshield.core.messages import Opaque, Part, Text

MAX_DEPTH = 100
"""Deepest nesting that is read. Code that reads checked values may recurse."""

_SHOWN_KEY = re.compile(r"[A-Za-z0-9_-]{1,64}")

_T = TypeVar("_T")

_TYPE_NAMES: Mapping[type, str] = {
    bool: "true or false",
    dict: "an object",
    float: "a decimal number",
    int: "a whole number",
    list: "a list",
    str: "a string",
    type(None): "nothing",
}
"""How errors call the types of JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A JSON value and its path."""

    value: object
    key: str | int
    """Name or number in the parent; for a root, what to call it."""
    parent: "Field | None" = None

    @property
    def path(self) -> str:
        """Where the value stands, e.g. `messages[3].role`."""
        steps: list[str] = []
        field = self
        while field.parent is not None:
            steps.append(_step(field.key))
            field = field.parent
        return "".join(reversed(steps)).removeprefix(".") or str(field.key)

    @property
    def given(self) -> bool:
        """Whether there is anything here: neither absent nor null."""
        return self.value is not None

    def __getitem__(self, key: str) -> "Field":
        """The member of this object; one that is absent reads as null."""
        return Field(value=self.mapping().get(key), key=key, parent=self)

    def members(self) -> Iterator["Field"]:
        """All members of this object."""
        return (Field(value=value, key=key, parent=self) for key, value in self.mapping().items())

    def elements(self) -> Iterator["Field"]:
        """The elements of this list; null has none."""
        if not self.given:
            return iter(())
        if not isinstance(self.value, list):
            raise self.wrong("a list")
        return (
            Field(value=value, key=number, parent=self) for number, value in enumerate(self.value)
        )

    def mapping(self) -> Mapping[str, object]:
        """The value, which must be an object."""
        if not isinstance(self.value, dict):
            raise self.wrong("an object")
        return self.value

    def text(self) -> str:
        """The value, which must be a string."""
        if not isinstance(self.value, str):
            raise self.wrong("a string")
        return self.value

    def text_or(self, default: str) -> str:
        """The string, or the default where there is nothing."""
        return self.text() if self.given else default

    def flag(self) -> bool | None:
        """True, false, or None where there is nothing."""
        if self.value is None or isinstance(self.value, bool):
            return self.value
        raise self.wrong("true or false")

    def choice(self, choices: Mapping[str, _T]) -> _T:
        """What one of a fixed set of words stands for."""
        word = self.text()
        if word not in choices:
            raise self.refused(f"must be one of {', '.join(choices)}")
        return choices[word]

    def wrong(self, needed: str) -> WireFormatError:
        """The error for a value of the wrong kind."""
        return WireFormatError(f"{self.path}: {needed} is needed, found {type_name(self.value)}")

    def refused(self, reason: str) -> WireFormatError:
        """The error for a value of the right type that is not valid here."""
        return WireFormatError(f"{self.path}: {reason}")


def type_name(value: object) -> str:
    """What errors call the type of a value."""
    return _TYPE_NAMES.get(type(value), type(value).__name__)


def root_of(payload: object) -> Field:
    """A request body, or a bare list of messages, as a checked object with `messages`."""
    body = {"messages": payload} if isinstance(payload, list) else payload
    root = checked(Field(value=body, key="conversation"))
    if not isinstance(body, dict):
        raise root.wrong("an object or a list of messages")
    if not root["messages"].given:
        raise root["messages"].wrong("a list")
    return root


def checked(root: Field) -> Field:
    """The same field, after a check that it holds only JSON, nested at most `MAX_DEPTH` levels."""
    pending = [(root, 0)]
    while pending:
        field, depth = pending.pop()
        if depth > MAX_DEPTH:
            raise root.refused(f"nested more than {MAX_DEPTH} levels deep")
        for key, value in _children(field):
            if not _is_scalar(value) and value != [] and value != {}:
                pending.append((Field(value=value, key=key, parent=field), depth + 1))
    return root


def json_text(field: Field) -> str:
    """A checked value as JSON text, without escapes for non-ASCII letters."""
    try:
        return json.dumps(field.value, ensure_ascii=False)
    except ValueError:  # an integer with more digits than Python prints
        raise field.refused("cannot be written as JSON") from None


def arguments(field: Field) -> str:
    """Arguments of a tool call: text exactly as the model wrote it, or an object dumped as JSON."""
    if not field.given:
        return ""
    if isinstance(field.value, str):
        return field.value
    if isinstance(field.value, dict):
        return json_text(field)
    raise field.wrong("a string or an object")


def call_id(given: Field, message: int, call: int) -> str:
    """The given id, or one made of the numbers of the message and of the call in it."""
    return given.text_or("") or f"call_{message}_{call}"


def only_assistant_calls(field: Field) -> WireFormatError:
    """The error for a tool call in a message that is not the assistant's."""
    return field.refused("only an assistant message can call tools")


def part(field: Field, words: Mapping[str, str]) -> Part:
    """One part of a message's content; `words` says where each readable type keeps its text."""
    kind = field["type"].text()
    return Text(text=field[words[kind]].text()) if kind in words else Opaque(kind=kind)


def filled(parts: Iterable[Part]) -> tuple[Part, ...]:
    """The parts without empty texts."""
    return tuple(part for part in parts if part != Text(text=""))


def _children(field: Field) -> Iterable[tuple[str | int, object]]:
    value = field.value
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise field.wrong("an object whose keys are strings")
        return value.items()
    if isinstance(value, list):
        return enumerate(value)
    if _is_scalar(value):
        return ()
    raise field.wrong("JSON")


def _is_scalar(value: object) -> bool:
    return value is None or isinstance(value, str | int | float)


def _step(key: str | int) -> str:
    if isinstance(key, int):
        return f"[{key}]"
    return f".{key}" if _SHOWN_KEY.fullmatch(key) else ".<key>"
