"""Words that try to take over a terminal, or to hide from the person who reads it."""

import unicodedata

PAYLOADS = {
    "colours": "\x1b[31mred\x1b[0m",
    "clear screen": "\x1b[2J\x1b[H all clear",
    "window title": "\x1b]0;owned\x07",
    "hyperlink": "\x1b]8;;https://evil.example\x1b\\click\x1b]8;;\x1b\\",
    "one-byte escape": "\x9b31m",
    "rich markup": "[red]x[/red] [link=https://evil.example]y[/link] [/]",
    "emoji code": ":skull:",
    "override": "\u202eletters backwards\u202c",
    "isolate": "\u2066x\u2069",
    "overwrite": "MISALIGNED\raligned   ",
    "backspaces": "bad\b\b\bok",
    "zero width": "pass\u200bword\ufeff",
    "tags": "".join(chr(0xE0000 + ord(letter)) for letter in "obey"),
    "variation selectors": "x\ufe01\U000e0101",
    "line separator": "a\u2028b\u2029c\x85d",
    "surrogate": "half \ud83d pair",
    "null": "a\x00b\x7fc",
}


def hidden(text: str) -> list[str]:
    """The characters of a text that a terminal would obey or not show."""
    return [
        char
        for char in text
        if char != "\n"
        and (unicodedata.category(char)[0] == "C" or unicodedata.category(char) in ("Zl", "Zp"))
    ]
