"""Which tools' definitions name a value of a call that the user did not name.

The provider of a tool writes its definition, and the agent reads all definitions. If one holds such
a value, its author may have asked for the call.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from taskshield.core.errors import WireFormatError
from taskshield.core.json_limits import read_json
from taskshield.core.messages import ToolCall
from taskshield.core.tools import ToolSpec

_SHORTEST = 4
"""Shorter values are too common to say anything."""


def tools_naming_values(
    tools: Iterable[ToolSpec], calls: Iterable[ToolCall], user_texts: Iterable[str]
) -> tuple[ToolSpec, ...]:
    """The tools whose definitions name a value of these calls that is not in the user's texts."""
    values = {value for call in calls for value in _values(call.arguments)}
    from_user = "\n".join(user_texts).casefold() if values else ""
    values = {value for value in values if value.casefold() not in from_user}
    if not values:
        return ()
    return tuple(spec for spec in tools if _name_a_value("\n".join(spec.texts), values))


def _name_a_value(text: str, values: Iterable[str]) -> bool:
    """Whether the text has one of the values as a word of its own."""
    return any(
        value in text and re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text) for value in values
    )


def _values(arguments: str) -> Iterator[str]:
    """Every value in a call's arguments that is long enough."""
    try:
        waiting: list[object] = [read_json(arguments, strict=False)]
    except WireFormatError:
        return
    while waiting:
        value = waiting.pop()
        if isinstance(value, bool):
            continue
        if isinstance(value, Mapping):
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
        elif isinstance(value, str | int | float) and len(text := str(value).strip()) >= _SHORTEST:
            yield text
