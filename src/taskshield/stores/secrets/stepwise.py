"""Searches a long text in steps: a single search would hold up all other threads meanwhile.

For patterns that know within a short distance whether they match; a match may be of any length.
"""

import json
import re
from collections.abc import Iterator

_STEP = 64 * 1024
"""Characters in which one search looks for the beginning of a match."""
_REACH = 4 * 1024
"""Characters after them that it sees. No pattern here needs as many to know whether it matches."""
_BEHIND = 64
"""Characters behind a match that a pattern may look at."""
_UNITS = re.compile(r'[^"\\]*+(?:\\.[^"\\]*+)*+')
_ESCAPES = re.compile(
    r"[^\\]*+(?:\\(?:[^u]|u(?![dD][89abAB])[0-9a-fA-F]{4}|u[0-9a-fA-F]{4}(?=.{6}))[^\\]*+)*+",
    re.DOTALL,
)
"""Whole escapes and what is between them. Of a pair of escapes for one character, both or none."""


def search(pattern: re.Pattern[str], text: str, start: int = 0) -> re.Match[str] | None:
    """The first match from a position on, as `pattern.search` finds it."""
    while start + _STEP + _REACH < len(text):
        stop = start + _STEP
        found = pattern.search(text, start, stop + _REACH)
        if found is None or found.start() >= stop:
            start = stop
            continue
        if found.end() + _BEHIND <= stop + _REACH:
            return found
        start = found.start()
        found = pattern.match(text, start)  # it goes on behind what was seen
        if found is not None:
            return found
        start += 1
    return pattern.search(text, start)


def matches(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """All matches, as `pattern.finditer` finds them. None of them is empty."""
    found = search(pattern, text)
    while found is not None:
        yield found
        found = search(pattern, text, found.end())


def lower(text: str) -> str:
    """A text in lower case, in which each character has its place."""
    steps = (text[at : at + _STEP] for at in range(0, len(text), _STEP))
    return "".join(step.replace("İ", "i").lower() for step in steps)  # the only one that grows


def string_end(text: str, start: int) -> int:
    """Where a JSON string ends that begins here, behind its quote: at a quote, or where it broke.

    An escape is not parted.
    """
    while True:
        stop = start + _STEP
        start = _end_of(_UNITS, text, start, stop)
        if start < stop - 1 or text.startswith('"', start):
            return start


def unescaped(string: str) -> str:
    """What a JSON string without its quotes says.

    Raises:
        ValueError: It has an escape that JSON does not know, or a control character.
    """
    pieces: list[str] = []
    start = 0
    while start < len(string):
        end = _end_of(_ESCAPES, string, start, start + _STEP)
        if start + _STEP >= len(string) or end == start:
            end = len(string)
        pieces.append(json.loads(f'"{string[start:end]}"'))
        start = end
    return "".join(pieces)


def escaped(text: str) -> str:
    """A text as a JSON string."""
    steps = (text[at : at + _STEP] for at in range(0, len(text), _STEP))
    return f'"{"".join(json.dumps(step)[1:-1] for step in steps)}"'


def _end_of(units: re.Pattern[str], text: str, start: int, stop: int) -> int:
    """The end of the whole units before a position; a pattern of any number of them."""
    found = units.match(text, start, stop)
    assert found is not None  # it matches nothing as well
    return found.end()
