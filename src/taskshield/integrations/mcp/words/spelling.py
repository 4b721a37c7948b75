"""Names and keys as words: `ignorePrevious_instructions` says "ignore Previous instructions".

Owns what counts as a name that says nothing. Pure, and linear in the length of the text.
"""

import re

_WORD = re.compile(r"[^\W\d_]+|\d+")
"""A word of a name: every sign between letters divides."""
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
"""Where a word begins in camel case."""
_PLAIN = re.compile(r"[\w$./:#@+-]{0,64}", re.ASCII)
"""What a name is written with."""
_FEW = 3
"""Most words of a name that says nothing by itself."""


def spelled(name: str) -> str:
    """The words of a name, with blanks between them."""
    return " ".join(_WORD.findall(_HUMP.sub(" ", name)))


def is_plain(text: str) -> bool:
    """Whether this is a short name, which says nothing by itself."""
    return _PLAIN.fullmatch(text) is not None and len(spelled(text).split()) <= _FEW


def readings(text: str) -> list[str]:
    """A text as it is; where it has no blanks, also as the words that it is glued from."""
    if is_plain(text):
        return []
    words = spelled(text)
    glued = not any(character.isspace() for character in text) and words != text
    return [text, f"{words[:1].upper()}{words[1:]}."] if glued and " " in words else [text]
