"""Characters that show nothing: dropped, marked where they part words, or decoded hidden words.

Between two letters such a character may split a word or stand for a blank. `glued_words` decides;
here it is only marked.
"""

import re
from collections.abc import Iterator

from taskshield.judges.embedded.text.tracked_text import BREAK, Edit

HINT = "\u200b"
"""Stands for characters within words: soft hyphens, places for a line break, joiners."""
GAP = "\u2800"
"""Stands for characters that look like a blank, or that do not belong into any word."""

_WITHIN_WORDS = "\x00\u00ad\u034f\u200b-\u200d\u2060-\u2064\ufeff"
_INVISIBLE = (
    f"{_WITHIN_WORDS}\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200e\u200f\u202a-\u202e"
    "\u2065-\u206f\u2800\u3164\ufe00-\ufe0f\uffa0\ufff9-\ufffb\U000e0000-\U000e0020\U000e007f"
    "\U000e0100-\U000e01ef\U0001d173-\U0001d17a"
)
_CONTROL = "\x01-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff"
_TAGS = "\U000e0021-\U000e007e"
_ESCAPE = r"\x1b\[[0-9;?]{0,32}[A-Za-z]"
_UNSHOWN = re.compile(
    rf"\r\n?|[\x0b\x0c\x85\u2028\u2029]|[{_TAGS}][{_TAGS}\U000e0020]*+"
    rf"|(?:{_ESCAPE}|[{_INVISIBLE}{_CONTROL}])++"
)
_HINTS = re.compile(rf"(?:{_ESCAPE}|[{_WITHIN_WORDS}])++")
_BRAILLE = re.compile("[\u2801-\u28ff]")
_UNSHOWN_ASCII = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
LONGEST_GAP = 3
"""Marks in a row; where letters stand apart, more of them part words."""
_LINE_ENDS = frozenset("\r\n\x0b\x0c\x85\u2028\u2029")
_OWN_SIGNS = re.compile(
    "[\u1100-\u11ff\u1780-\u18af\u2e80-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
"""Old Hangul, Khmer, Mongolian, Chinese: their letters are made with such characters."""


def edits(text: str) -> Iterator[Edit]:
    """Drop or mark what shows nothing, unify line ends, spell out words written in Unicode tags."""
    if text.isascii() and _UNSHOWN_ASCII.search(text) is None:
        return
    for match in _UNSHOWN.finditer(text):
        start, end = match.span()
        first = text[start]
        if first in _LINE_ENDS:
            yield Edit(start, end, "\n")
        elif "\U000e0021" <= first <= "\U000e007e":
            yield Edit(start, start, BREAK)
            for index in range(start, end):
                yield Edit(index, index + 1, chr(ord(text[index]) - 0xE0000))
            yield Edit(end, end, BREAK)
        elif _BRAILLE.match(text, start - 1 if start else 0):
            yield Edit(start, end, " " if GAP in match[0] else "")
        elif start and end < len(text) and text[start - 1].isalnum() and text[end].isalnum():
            yield Edit(start, end, _mark(match[0], text[start - 1]))
        else:
            yield Edit(start, end, "")


def _mark(unshown: str, before: str) -> str:
    count = min(len(unshown), LONGEST_GAP)
    if _HINTS.fullmatch(unshown):
        return HINT * count
    return "" if _OWN_SIGNS.match(before) else GAP * count


def are_hidden(before: str, edit: Edit) -> bool:
    """Whether an edit shows words that were written in Unicode tags."""
    return "\U000e0021" <= before[edit.start : edit.end] <= "\U000e007e"


def shown(text: str) -> str:
    """The visible part of a text."""
    return _UNSHOWN.sub(lambda match: "\n" if match[0][0] in _LINE_ENDS else "", text)


def resolved(character: str) -> str:
    """What an escape or entity stands for: as it is, or as the mark of what shows nothing."""
    if shown(character):
        return shown(character)
    return HINT if _HINTS.fullmatch(character) else GAP
