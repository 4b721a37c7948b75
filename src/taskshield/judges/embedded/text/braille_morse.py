"""Braille cells and Morse code as the text that they stand for.

The caller decides whether the result is words: a row of dashes may be a ruled line.
"""

import re
from collections.abc import Iterator
from string import ascii_lowercase

from taskshield.judges.embedded.text.tracked_text import Edit

_CELLS = dict(zip("⠁⠃⠉⠙⠑⠋⠛⠓⠊⠚⠅⠇⠍⠝⠕⠏⠟⠗⠎⠞⠥⠧⠺⠭⠽⠵", ascii_lowercase, strict=True))
_SIGNS = dict(zip("⠂⠆⠒⠲⠖⠦⠤⠄⠀", ",;:.!?-' ", strict=True))
_DIGITS = dict(zip(_CELLS, "1234567890", strict=False))  # the first ten letters
_CAPITAL, _NUMBER = "⠠", "⠼"
_CELL = "\u2801-\u283f"
_BRAILLE = re.compile(rf"[{_CELL}]++(?:[^\n{_CELL}]{{1,4}}+[{_CELL}]++)*+")
"""Cells, and between them whatever has none."""

_CODES = (
    "a.- b-... c-.-. d-.. e. f..-. g--. h.... i.. j.--- k-.- l.-.. m-- n-. o--- p.--. q--.- r.-."
    " s... t- u..- v...- w.-- x-..- y-.-- z--.. 1.---- 2..--- 3...-- 4....- 5..... 6-.... 7--..."
    " 8---.. 9----. 0----- ,--..-- ?..--.. /-..-. @.--.-. '.----. :---... =-...-"
)
_MORSE = {code[1:]: code[0] for code in _CODES.split()} | {".-.-.-": ".", "-....-": "-"}
_EVEN = str.maketrans("·•∙−–—_", "...----")
_SIGN = "[.·•∙−–—_-]"
_SIGNALS = re.compile(rf"{_SIGN}(?<!\S.){_SIGN}{{0,5}}+(?:[ /|]{{1,5}}+{_SIGN}{{1,6}}+){{7,}}+")
"""The sign comes before what must not stand there: so the search skips all that is no sign."""
_WORD_END = re.compile(" *[/|] *|  +")


def spelled(text: str) -> Iterator[Edit]:
    """What stretches of cells and signals spell, letter by letter."""
    if not text.isascii():
        for found in _BRAILLE.finditer(text):
            yield Edit(*found.span(), _from_cells(found[0]))
    for found in _SIGNALS.finditer(text):
        yield Edit(*found.span(), _from_signals(found[0].translate(_EVEN)))


def _from_cells(cells: str) -> str:
    letters: list[str] = []
    capital = number = False
    for cell in cells:
        if cell in (_CAPITAL, _NUMBER):
            capital, number = cell == _CAPITAL, cell == _NUMBER
            continue
        number = number and cell in _DIGITS
        letter = _DIGITS[cell] if number else _CELLS.get(cell) or _SIGNS.get(cell, cell)
        letters.append(letter.upper() if capital else letter)
        capital = False
    return "".join(letters)


def _from_signals(signals: str) -> str:
    words = (word.split() for word in _WORD_END.split(signals))
    return " ".join("".join(_MORSE.get(code, "?") for code in word) for word in words)
