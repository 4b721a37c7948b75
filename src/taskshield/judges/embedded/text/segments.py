"""Readable pieces of any text, each with its place in it: sentences, cells, values, hidden words.

Owns what a segment is and the order of the steps, not which segments direct the agent.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

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
    steps = _steps(text)
    readable = steps[-1].text if steps else text
    found: list[Segment] = []
    floor = 0
    for start, end in _pieces(readable):
        deadline.check()
        words = " ".join(readable[start:end].split())
        left, right, disguised = start, end, False
        for step in reversed(steps):
            disguised = disguised or step.undoes(left, right)
            left, right = step.start(left), step.end(right)
        left = max(left, floor)
        if left < right:
            found.append(Segment(left, right, words, disguised))
            floor = right
    return tuple(found)


_remembered = lru_cache(maxsize=_KEPT)(_found)


def _steps(text: str) -> list[Rewriting]:
    steps: list[Rewriting] = []

    def apply(edits: Callable[[str], Iterable[Edit]], disguises: Disguises | None = None) -> None:
        nonlocal text
        step = Rewriting(text, edits(text), disguises)
        if step.text != text:
            steps.append(step)
            text = step.text

    def find_words() -> None:
        apply(glued_words.mark_edits, glued_words.are_parted)
        apply(glued_words.separated_edits, glued_words.are_parted)
        apply(obfuscation.edits, _is_disguise)

    apply(control_characters.edits, control_characters.are_hidden)
    apply(literals.edits)
    for _ in range(_NESTINGS - 1):
        if "\\" not in text or not literals.is_structured(text):
            break
        apply(literals.edits)
    # Before markup, which drops attributes without words and resolves encodings; and again after
    # it, because entities spell letters. Lines come last: they cut and join wrapped text.
    find_words()
    bare = text
    apply(markup.edits)
    if text != bare:
        find_words()
    apply(lines.edits)
    return steps


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
