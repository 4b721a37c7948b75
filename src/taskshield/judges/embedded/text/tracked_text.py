"""Rewriting a text while remembering where each character came from.

Every step from raw tool output to readable text is a `Rewriting`. Only the ends of segments are
ever mapped back, so a step costs time by its edits, not by its characters.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeAlias

from taskshield.core import deadline

BREAK = "\x1e"
"""Marks where a segment must end. `control_characters` removes all raw ones."""


class Edit(NamedTuple):
    """Characters `start` to `end` of a text become `text`."""

    start: int
    end: int
    text: str


class LinkEdit(Edit):
    """Words in a link, where percent signs are no disguise."""


Disguises: TypeAlias = Callable[[str, Edit], bool]
"""Whether an edit of a text shows words that were disguised."""


class Rewriting:
    """A text after edits, with the way back to the text before."""

    def __init__(
        self, before: str, edits: Iterable[Edit], disguises: Disguises | None = None
    ) -> None:
        """Apply edits, which are in order and do not overlap."""
        self._undone = array("q")
        parts: list[str] = []
        # Numbers and not edits: a long text has so many that the collector would pause for them.
        self._left, self._right, self._starts, self._ends = (array("q") for _ in range(4))
        cursor = length = 0
        for edit in edits:
            deadline.check()
            parts.append(before[cursor : edit.start])
            parts.append(edit.text)
            length += edit.start - cursor
            self._left.append(edit.start)
            self._right.append(edit.end)
            self._starts.append(length)
            if disguises is not None and disguises(before, edit):
                self._undone.append(length)
            length += len(edit.text)
            self._ends.append(length)
            cursor = edit.end
        parts.append(before[cursor:])
        self.text = "".join(parts) if self._starts else before

    def undoes(self, start: int, end: int) -> bool:
        """Whether an edit between these positions of the text after showed disguised words."""
        at = bisect_left(self._undone, start)
        return at < len(self._undone) and self._undone[at] < end

    def start(self, position: int) -> int:
        """Where the character at this position began in the text before."""
        index = bisect_right(self._starts, position) - 1
        if index < 0:
            return position
        if position < self._ends[index]:
            return self._left[index]
        return position + self._right[index] - self._ends[index]

    def end(self, position: int) -> int:
        """Where the character before this position ended in the text before."""
        index = bisect_right(self._starts, position - 1) - 1
        if index < 0:
            return position
        if position <= self._ends[index]:
            return self._right[index]
        return position + self._right[index] - self._ends[index]
