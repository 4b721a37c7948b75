"""How values look as JSON in stored documents: texts, numbers, words.

A shape writes a value as what JSON has and reads it back. Both refuse what is not of the shape,
and the error names the path but never the value. Lists and maps are in
`containers`, objects with named members in `records`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from typing import Any, Generic, Protocol, TypeVar

from taskshield.adapters.parsing.json_reader import Field, type_name
from taskshield.core.errors import WireFormatError

T = TypeVar("T")

Schema = dict[str, Any]
"""A JSON schema."""


class Misshapen(Exception):
    """A value is not of its shape. The steps to it are added on the way up, the last one first."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.steps: list[str | int] = []

    def error(self, name: str) -> WireFormatError:
        """The error for callers; `name` is what to call the whole document."""
        place = Field(value=None, key=name)
        for step in reversed(self.steps):
            place = Field(value=None, key=step, parent=place)
        return place.refused(self.reason)


def wrong(needed: str, value: object) -> Misshapen:
    """The error for a value of the wrong type."""
    return Misshapen(f"{needed} is needed, found {type_name(value)}")


class Shape(Protocol[T]):
    """How values of a type look as JSON. Raises `Misshapen` for a value that is not of it."""

    def write(self, value: T) -> object:
        """The value in the types that JSON has."""
        ...

    def read(self, value: Any) -> T:
        """The value that was written as this."""
        ...

    def schema(self) -> Schema:
        """What is read, as a JSON schema; unknown members are read as well."""
        ...


@dataclass(frozen=True, slots=True)
class _Leaf(Generic[T]):
    """A value that is in JSON what it is in Python."""

    kind: type[T]
    needed: str
    schema_type: str

    def write(self, value: T) -> object:
        if type(value) is self.kind or (self.kind is str and isinstance(value, str)):
            return value
        raise wrong(self.needed, value)

    def read(self, value: Any) -> T:
        if type(value) is self.kind:
            return value
        raise wrong(self.needed, value)

    def schema(self) -> Schema:
        return {"type": self.schema_type}


class _Number:
    """A decimal number. Whole ones are accepted too."""

    def write(self, value: float) -> object:
        if type(value) is float or type(value) is int:
            return value
        raise wrong("a decimal number", value)

    def read(self, value: Any) -> float:
        if type(value) is float:
            return value
        if type(value) is int:
            try:
                return float(value)
            except OverflowError:
                raise Misshapen("the number is too large") from None
        raise wrong("a decimal number", value)

    def schema(self) -> Schema:
        return {"type": "number"}


class _AnyJson:
    """Whatever JSON can hold, such as the schema of a tool's arguments."""

    def write(self, value: object) -> object:
        return _plain(value)

    def read(self, value: Any) -> object:
        return value

    def schema(self) -> Schema:
        return {}


TEXT: Shape[str] = _Leaf(str, "a string", "string")
WHOLE: Shape[int] = _Leaf(int, "a whole number", "integer")
FLAG: Shape[bool] = _Leaf(bool, "true or false", "boolean")
NUMBER: Shape[float] = _Number()
ANY_JSON: Shape[object] = _AnyJson()


class OneOf(Generic[T]):
    """A value that is written as one of a few words."""

    __slots__ = ("_values", "_words")

    def __init__(self, words: Mapping[str, T]) -> None:
        """Make it from what each word stands for."""
        self._values = dict(words)
        self._words = {value: word for word, value in words.items()}

    def write(self, value: T) -> object:
        """The word for a value."""
        try:
            return self._words[value]
        except (KeyError, TypeError):
            raise self._refused() from None

    def read(self, value: Any) -> T:
        """The value of a word."""
        if type(value) is not str:
            raise wrong("a string", value)
        try:
            return self._values[value]
        except KeyError:
            raise self._refused() from None

    def schema(self) -> Schema:
        """The words."""
        return {"enum": list(self._values)}

    def _refused(self) -> Misshapen:
        return Misshapen(f"must be one of {', '.join(self._values)}")


def words(*words: str) -> Shape[Any]:
    """Words that stand for themselves."""
    return OneOf({word: word for word in words})


_SCALARS = frozenset((str, int, float, bool, type(None)))


def _plain(value: object) -> object:
    """Values of no fixed shape in the types that JSON has. Sets are sorted."""
    if type(value) in _SCALARS:  # almost all are, and what follows takes its time
        return value
    if type(value) is dict:
        return {_plain(key): _plain(item) for key, item in value.items()}
    if type(value) is list:
        return [_plain(item) for item in value]
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {_plain(key): _plain(item) for key, item in value.items()}
    if isinstance(value, frozenset):
        return sorted(map(_plain, value), key=str)
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
    return value
