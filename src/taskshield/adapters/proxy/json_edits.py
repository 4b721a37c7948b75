"""Changes to JSON that leave the original as it was and share its unchanged parts."""

from collections.abc import Callable, Iterable
from typing import Any

from taskshield.adapters.parsing.json_reader import Field
from taskshield.adapters.proxy.exchange import Body, Place


def index_of(field: Field) -> int:
    """The value, which must be an index."""
    value = field.value
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise field.wrong("a number from 0 on")
    return value


def edited(value: Any, place: Place, change: Callable[[Any], Any]) -> Any:
    """The value with its part at one place changed."""
    if not place:
        return change(value)
    key, *rest = place
    if isinstance(value, list) and isinstance(key, int):
        return [*value[:key], edited(value[key], tuple(rest), change), *value[key + 1 :]]
    return {**value, key: edited(value.get(key), tuple(rest), change)}


def assembled(pieces: Iterable[Any]) -> Any:
    """A value from its pieces: texts and lists are joined, objects member by member."""
    given = [piece for piece in pieces if piece is not None]
    if not given:
        return None
    if all(isinstance(piece, str) for piece in given):
        return "".join(given)
    if all(isinstance(piece, list) for piece in given):
        return [element for piece in given for element in piece]
    if all(isinstance(piece, dict) for piece in given):
        members: dict[str, list[Any]] = {}
        for piece in given:
            for key, value in piece.items():
                members.setdefault(key, []).append(value)
        return {key: assembled(values) for key, values in members.items()}
    return given[-1]


def without(members: Body, *keys: str) -> Body:
    """An object without some of its members."""
    return {key: value for key, value in members.items() if key not in keys}
