"""How lists, sets, maps and values that may be missing look as JSON in stored documents."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from taskshield.adapters.stored.shapes import TEXT, Misshapen, Schema, Shape, wrong

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class OrNothing(Generic[T]):
    """A value or null."""

    shape: Shape[T]

    def write(self, value: T | None) -> object:
        """The value or None."""
        return None if value is None else self.shape.write(value)

    def read(self, value: Any) -> T | None:
        """The value or None."""
        return None if value is None else self.shape.read(value)

    def schema(self) -> Schema:
        """Null is valid as well."""
        return {"anyOf": [self.shape.schema(), {"type": "null"}]}


@dataclass(frozen=True, slots=True)
class Listed(Generic[T]):
    """A tuple of values of one shape, as a list."""

    shape: Shape[T]

    def write(self, value: tuple[T, ...]) -> object:
        """The list."""
        if not isinstance(value, tuple):
            raise wrong("a tuple", value)
        return _each(self.shape.write, value)

    def read(self, value: Any) -> tuple[T, ...]:
        """The tuple."""
        if type(value) is not list:
            raise wrong("a list", value)
        return tuple(_each(self.shape.read, value))

    def schema(self) -> Schema:
        """A list of any length."""
        return {"type": "array", "items": self.shape.schema()}


@dataclass(frozen=True, slots=True)
class SetOf(Generic[T]):
    """A set, as a sorted list: equal values give equal text."""

    shape: Shape[T]

    def write(self, value: frozenset[T]) -> object:
        """The sorted list."""
        if not isinstance(value, frozenset):
            raise wrong("a set", value)
        return sorted(map(self.shape.write, value), key=str)

    def read(self, value: Any) -> frozenset[T]:
        """The set."""
        if type(value) is not list:
            raise wrong("a list", value)
        return frozenset(_each(self.shape.read, value))

    def schema(self) -> Schema:
        """A list; the order has no meaning."""
        return {"type": "array", "items": self.shape.schema(), "uniqueItems": True}


@dataclass(frozen=True, slots=True)
class MapOf(Generic[T]):
    """A mapping, as an object."""

    shape: Shape[T]
    keys: Shape[Any] = TEXT

    def write(self, value: Mapping[Any, T]) -> object:
        """The object."""
        if not isinstance(value, Mapping):
            raise wrong("an object", value)
        return self._each(self.keys.write, self.shape.write, value)

    def read(self, value: Any) -> Mapping[Any, T]:
        """The mapping."""
        if type(value) is not dict:
            raise wrong("an object", value)
        return self._each(self.keys.read, self.shape.read, value)

    def schema(self) -> Schema:
        """An object with any keys, or with those that are valid."""
        keys = {} if self.keys is TEXT else {"propertyNames": self.keys.schema()}
        return {"type": "object", **keys, "additionalProperties": self.shape.schema()}

    def _each(
        self,
        key: Callable[[Any], Any],
        item: Callable[[Any], Any],
        value: Mapping[Any, Any],
    ) -> dict[Any, Any]:
        name: Any = ""
        try:
            changed = {}
            for name, each in value.items():
                changed[key(name)] = item(each)
        except Misshapen as error:
            error.steps.append(name if isinstance(name, str) else str(name))
            raise
        return changed


def _each(change: Callable[[Any], Any], value: Any) -> list[Any]:
    """Change each element; an error names its number."""
    number = 0
    try:
        changed = []
        for number, each in enumerate(value):  # noqa: B007 - an error needs the number
            changed.append(change(each))
    except Misshapen as error:
        error.steps.append(number)
        raise
    return changed
