"""Untrusted text made safe to print.

Characters that a terminal would obey or not show are spelled out: escape sequences, right-to-left
overrides, invisible letters. So no text can colour, overwrite, reorder or hide a part of a report.
"""

import re
import unicodedata

_INVISIBLE = re.compile(
    "[\u2800\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0e\uffa0\U000e0100-\U000e01ef]"
)
"""Characters that Unicode counts among letters and marks, but that show nothing."""
_BLANK = re.compile(r"[ \t\r\n]+")


def visible(text: str, limit: int) -> str:
    """The text with such characters spelled out, cut at `limit` characters. Line breaks stay."""
    text = text.replace("\r\n", "\n")
    if text.isascii() and text.isprintable() and len(text) <= limit:
        return text
    shown: list[str] = []
    room = limit
    for index, char in enumerate(text):
        piece = _spelled(char)
        room -= len(piece)
        if room < 0:
            return f"{''.join(shown)}... (+{len(text) - index:,} characters)"
        shown.append(piece)
    return "".join(shown)


def one_line(text: str, limit: int) -> str:
    """Like `visible`, in one line."""
    return visible(_BLANK.sub(" ", text).strip(), limit)


def _spelled(char: str) -> str:
    if char == "\t":
        return " "
    if char == "\n" or not _is_hidden(char):
        return char
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"<U+{code:04X}>"


def _is_hidden(char: str) -> bool:
    category = unicodedata.category(char)
    return category[0] == "C" or category in ("Zl", "Zp") or _INVISIBLE.match(char) is not None
