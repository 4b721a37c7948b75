"""Readable pieces of any text, each with its place in it: sentences, cells, values, hidden words.

Owns what a segment is and the order of the steps, not which segments direct the agent.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial

from taskshield.core import deadline
from taskshield.judges.embedded.grammar.run_ons import run_on_starts
from taskshield.judges.embedded.grammar.sentences import cut_points, sentence_ends
from taskshield.judges.embedded.text import (
    control_characters,
    glued_words,
    lines,
    literals,
    markup,
    obfuscation,
)
from taskshield.judges.embedded.text.long_texts import Part, parts
from taskshield.judges.embedded.text.tracked_text import BREAK, Disguises, Edit, LinkEdit, Rewriting

_NESTINGS = 3
"""JSON in JSON in JSON is read; deeper nesting keeps its backslashes."""
_UNIT = re.compile(r"[^\x1e]+")
_WIDE = re.compile("[\uff21-\uff3a\uff41-\uff5a]")
_READABLE = re.compile(r"[^\W_]")
_QUOTES = "\"'"
_SHORT = 32_000
"""Texts up to this length are cached: an output is checked first and searched by calls later."""
_KEPT = 64


@dataclass(frozen=True, slots=True)
class Segment:
    """One sentence, cell, value or hidden text of a longer text."""

    start: int
    """First character in the given text."""
    end: int
    """One past its last character in the given text."""
    text: str
    """As a person would read it: no markup, no escapes, single blanks."""
    disguised: bool = False
    """Whether words in it had to be found: hidden, encoded, without blanks."""


def segments(text: str) -> tuple[Segment, ...]:
    """All readable pieces of a text, in order, without overlap; in linear time."""
    return _remembered(text) if len(text) <= _SHORT else _found(text)


def _found(text: str) -> tuple[Segment, ...]:
    found: list[Segment] = []
    floor = 0
    for part, reading in _readings(text):
        for start, end, words, disguised in reading.segments():
            left, right = max(part.left + start, floor), part.left + end
            if left >= part.end:
                break  # the next part has it
            if left < right:
                found.append(Segment(left, right, words, disguised))
                floor = right
    return tuple(found)


_remembered = lru_cache(maxsize=_KEPT)(_found)


def _readings(text: str) -> Iterator[tuple[Part, "_Reading"]]:
    """The parts of a text, each readable.

    How quotes and escapes are read depends on the whole text, so all parts are read up to there.
    """
    cut = list(parts(text))
    readings = [_Reading(text[part.left : part.right]) for part in cut]
    for reading in readings:
        reading.apply(control_characters.edits, control_characters.are_hidden)
    for nesting in range(_NESTINGS):
        signs = literals.signs([reading.text for reading in readings])
        if nesting and not signs.nested:
            break
        for reading in readings:
            reading.apply(partial(literals.edits, found=signs))
    for part in cut:
        reading = readings.pop(0)
        reading.finish()
        yield part, reading


class _Reading:
    """A text on its way to a readable one."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._steps: list[Rewriting] = []

    def apply(
        self, edits: Callable[[str], Iterable[Edit]], disguises: Disguises | None = None
    ) -> None:
        """Take one step."""
        step = Rewriting(self.text, edits(self.text), disguises)
        if step.text != self.text:
            self._steps.append(step)
            self.text = step.text

    def finish(self) -> None:
        """Take the steps after control characters and literals.

        Words are sought before markup, which drops attributes without words and resolves encodings;
        and again after it, because entities spell letters. Lines come last: they cut and join
        wrapped text.
        """
        self._find_words()
        bare = self.text
        self.apply(markup.edits)
        if self.text != bare:
            self._find_words()
        self.apply(lines.edits)

    def segments(self) -> Iterator[tuple[int, int, str, bool]]:
        """The pieces of the readable text: place in the given text, words, whether disguised."""
        for start, end in _pieces(self.text):
            deadline.check()
            words = " ".join(self.text[start:end].split())
            left, right, disguised = start, end, False
            for step in reversed(self._steps):
                disguised = disguised or step.undoes(left, right)
                left, right = step.start(left), step.end(right)
            yield left, right, words, disguised

    def _find_words(self) -> None:
        self.apply(glued_words.mark_edits, glued_words.are_parted)
        self.apply(glued_words.separated_edits, glued_words.are_parted)
        self.apply(obfuscation.edits, _is_disguise)


def _is_disguise(before: str, edit: Edit) -> bool:
    """Whether an edit shows disguised words, not those of a link or letters of another width."""
    return not isinstance(edit, LinkEdit) and _WIDE.fullmatch(before, edit.start, edit.end) is None


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    for unit in _UNIT.finditer(text):
        begin = unit.start()
        content = unit[0]
        cursor = 0
        for end in (*sorted({*sentence_ends(content), *run_on_starts(content)}), len(content)):
            sentence = content[cursor:end]
            last = 0
            for cut in (*cut_points(sentence), len(sentence)):
                piece = _trimmed(text, begin + cursor + last, begin + cursor + cut)
                if piece is not None:
                    yield piece
                last = cut
            cursor = end


def _trimmed(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The piece without blanks and stray quotes at its ends; None where no letter is left."""
    if _READABLE.search(text, start, end) is None:
        return None
    while True:
        while text[start].isspace():
            start += 1
        while text[end - 1].isspace():
            end -= 1
        first, last = text[start], text[end - 1]
        if first in _QUOTES and last == first and text.count(first, start, end) == 2:
            start, end = start + 1, end - 1
        elif first in _QUOTES and text.count(first, start, end) == 1:
            start += 1
        elif last in _QUOTES and text.count(last, start, end) == 1:
            end -= 1
        else:
            return start, end


assert BREAK == "\x1e"  # `_UNIT` and `lines` spell it out
