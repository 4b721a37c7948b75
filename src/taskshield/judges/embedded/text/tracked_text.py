"""Rewriting a text while remembering where each character came from.

Every step from raw tool output to readable text is a `Rewriting`. Only the ends of segments are
ever mapped back, so a step costs time by its edits, not by its characters.
"""

from bisect import bisect_right
from collections.abc import Iterable
from typing import NamedTuple

from taskshield.core import deadline

BREAK = "\x1e"
"""Marks where a segment must end. `control_characters` removes all raw ones."""


class Edit(NamedTuple):
    """Characters `start` to `end` of a text become `text`."""

    start: int
    end: int
    text: str


class Rewriting:
    """A text after edits, with the way back to the text before."""

    def __init__(self, before: str, edits: Iterable[Edit]) -> None:
        """Apply edits, which are in order and do not overlap."""
        parts: list[str] = []
        self._edits: list[Edit] = []
        self._starts: list[int] = []
        self._shifts: list[int] = []
        cursor = length = 0
        for edit in edits:
            deadline.check()
            parts.append(before[cursor : edit.start])
            parts.append(edit.text)
            length += edit.start - cursor
            self._edits.append(edit)
            self._starts.append(length)
            length += len(edit.text)
            cursor = edit.end
            self._shifts.append(cursor - length)
        parts.append(before[cursor:])
        self.text = "".join(parts) if self._edits else before

    def start(self, position: int) -> int:
        """Where the character at this position began in the text before."""
        index = bisect_right(self._starts, position) - 1
        if index < 0:
            return position
        edit = self._edits[index]
        if position < self._starts[index] + len(edit.text):
            return edit.start
        return position + self._shifts[index]

    def end(self, position: int) -> int:
        """Where the character before this position ended in the text before."""
        index = bisect_right(self._starts, position - 1) - 1
        if index < 0:
            return position
        edit = self._edits[index]
        if position <= self._starts[index] + len(edit.text):
            return edit.end
        return position + self._shifts[index]
