"""Invisible characters: dropped, or made readable where they spell hidden words."""

import re
from collections.abc import Iterator

from taskshield.judges.embedded.text.tracked_text import BREAK, Edit

_INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e001f\U000e007f"
    "\U000e0100-\U000e01ef\U0001d173-\U0001d17a"
)
_CONTROL = "\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff"
_TAGS = "\U000e0020-\U000e007e"
_UNSHOWN = re.compile(
    rf"\x1b\[[0-9;?]{{0,32}}[A-Za-z]|\r\n?|[\x0b\x0c\x85\u2028\u2029]|[{_TAGS}]+"
    rf"|[{_INVISIBLE}{_CONTROL}]+"
)
_UNSHOWN_ASCII = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_LINE_ENDS = frozenset("\r\n\x0b\x0c\x85\u2028\u2029")


def edits(text: str) -> Iterator[Edit]:
    """Drop invisible characters, unify line ends, and spell out words written in Unicode tags."""
    if text.isascii() and _UNSHOWN_ASCII.search(text) is None:
        return
    for match in _UNSHOWN.finditer(text):
        start, end = match.span()
        first = text[start]
        if first in _LINE_ENDS:
            yield Edit(start, end, "\n")
        elif "\U000e0020" <= first <= "\U000e007e":
            yield Edit(start, start, BREAK)
            for index in range(start, end):
                yield Edit(index, index + 1, chr(ord(text[index]) - 0xE0000))
            yield Edit(end, end, BREAK)
        else:
            yield Edit(start, end, "")


def shown(text: str) -> str:
    """The visible part of the characters that an escape or entity stands for."""
    return _UNSHOWN.sub(lambda match: "\n" if match[0][0] in _LINE_ENDS else "", text)
