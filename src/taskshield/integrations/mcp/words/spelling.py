"""Names and keys as words: `ignorePrevious_instructions` says "ignore Previous instructions".

Owns what counts as a name that says nothing. Pure, and linear in the length of the text.
"""

import re

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
"""A word of a name: camel case and every sign between letters divide."""
_PLAIN = re.compile(r"[\w$./:#@+-]{0,64}", re.ASCII)
"""What a name is written with."""
_FEW = 3
"""Most words of a name that says nothing by itself."""


def spelled(name: str) -> str:
    """The words of a name, with blanks between them."""
    return " ".join(_WORD.findall(name))


def is_plain(text: str) -> bool:
    """Whether this is a short name, which says nothing by itself."""
    return _PLAIN.fullmatch(text) is not None and len(_WORD.findall(text)) <= _FEW


def readings(text: str) -> list[str]:
    """A text as it is; where it has no blanks, also as the words that it is glued from."""
    if is_plain(text):
        return []
    words = spelled(text)
    glued = not any(character.isspace() for character in text) and words != text
    return [text, f"{words[:1].upper()}{words[1:]}."] if glued and " " in words else [text]
