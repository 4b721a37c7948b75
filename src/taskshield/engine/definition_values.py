"""Which tools' definitions name a value of a call that the user did not name.

Definitions are written by whoever offers a tool, and agents read all of them. Where such a value
stands in one, its author may have asked for the call.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping

from taskshield.core.messages import ToolCall
from taskshield.core.tools import ToolSpec

_SHORTEST = 4
"""Characters of a value that is recognised elsewhere."""


def tools_naming_values(
    tools: Iterable[ToolSpec], calls: Iterable[ToolCall], asked: Iterable[str]
) -> tuple[ToolSpec, ...]:
    """The tools whose definitions name a value of these calls that is not in the user's words."""
    values = {value for call in calls for value in _values(call.arguments)}
    yours = "\n".join(asked).casefold() if values else ""
    values = {value for value in values if value.casefold() not in yours}
    if not values:
        return ()
    return tuple(spec for spec in tools if _names("\n".join(spec.texts), values))


def _names(words: str, values: Iterable[str]) -> bool:
    """Whether one of the values stands in these words as it is, and not within another word."""
    return any(
        value in words and re.search(rf"(?<!\w){re.escape(value)}(?!\w)", words) for value in values
    )


def _values(arguments: str) -> Iterator[str]:
    """Every value in a call's arguments that is long enough."""
    try:
        waiting: list[object] = [json.loads(arguments)]
    except (ValueError, RecursionError):
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
