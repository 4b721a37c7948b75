"""Cuts a long text into parts that are read one by one, so that no single step takes long.

A step over a whole text, such as the search for a pattern, holds up all other threads of the
process. Each part is read with some text around it, so that a sentence across a cut is seen whole.
Owns where the cuts are; what a segment is belongs to `segments`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from taskshield.core import deadline

WHOLE = 64_000
"""Characters of a text that is read in one go. Of longer ones a part is about as long."""
AROUND = 2_000
"""Characters read before and after a part. A sentence has far fewer."""
_LONGEST = 240_000
"""Characters of a part. It is longer than others only where nothing in it may be parted: a long
encoding. Beyond this that is cut, too, so that each piece can be decoded: all usual groups of
characters (2, 3, 4, 8) divide this number."""

_CUTS = (
    re.compile(r"\n[ \t\r]{0,20}\n"),
    re.compile(r"\n"),
    re.compile(r"\s"),
    re.compile(r"[^\w+/=%\\.~-]", re.ASCII),
)
"""Where a text is best cut, the best place first. The last ones are in no encoding."""
_PLACE = _CUTS[-1]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a text."""

    start: int
    end: int
    left: int
    """Where the text around it begins."""
    right: int
    """Where the text around it ends."""


def parts(text: str) -> Iterator[Part]:
    """The parts of a text, in order; together they are all of it."""
    start = 0
    while True:
        deadline.check()
        end = _end(text, start)
        yield Part(start, end, _left(text, start), _right(text, end))
        if end == len(text):
            return
        start = end


def _end(text: str, start: int) -> int:
    at = start + WHOLE
    if at >= len(text):
        return len(text)
    for cut in _CUTS:
        found = cut.search(text, at, at + AROUND)
        if found is not None:
            return found.end()
    found = _PLACE.search(text, at + AROUND, start + _LONGEST)
    return min(start + _LONGEST, len(text)) if found is None else found.end()


def _left(text: str, start: int) -> int:
    found = _PLACE.search(text, max(0, start - AROUND), start)
    return 0 if start == 0 else start if found is None else found.end()


def _right(text: str, end: int) -> int:
    last = min(end + AROUND, len(text))
    if last == len(text):
        return last
    while last > end and _PLACE.match(text, last - 1) is None:
        last -= 1
    return last
