"""Words without blanks between them, parted by signs that show nothing or that stand for blanks.

An agent reads through these, a small model does not. A sign within a word, such as a soft hyphen,
goes; one that parts words becomes a blank. Names, addresses, tables and paths stay as they are.
"""

import re
from collections.abc import Iterator, Sequence

from taskshield.core import deadline
from taskshield.judges.embedded.grammar.language import FUNCTION_WORDS
from taskshield.judges.embedded.text.control_characters import GAP, HINT, LONGEST_GAP
from taskshield.judges.embedded.text.tracked_text import Edit

_LONGEST = 30
"""Letters; longer words are none, even where signs show how to hyphenate them."""
_LETTERS = 3.8
"""Letters of a word on average. Syllables have fewer."""
_HINTED = 4
"""Pieces between signs within words that show whether these are words or syllables."""
_FEWEST = 5
"""Words parted by visible signs that are read as words with blanks."""
_SHARE = 0.2
"""The share of function words in a sentence; mostly it is twice as high."""
_DIFFERENT = 3
"""Different function words in a sentence with visible signs for blanks. A table has fewer."""
_WINDOW = 16
"""Words that are looked at together."""
_ADDRESS = 200
"""Characters before words in which the beginning of an address is looked for."""

_LINE = re.compile(r"[^\n\x1e]+")
_MARKS = re.compile(f"[{HINT}{GAP}]++")
_HINTS = re.compile(rf"(?<![^\W_])[^\W_]++(?:{HINT}++[^\W_]++)++")
_PLAIN = r"\w!-{}~€£§°“”‘’«»„…–"
_ODD = rf"[^\s\x1e{_PLAIN}]"
"""A sign that no address, name or price has."""
_SIGN = r"[^\w\s\x1e/\\@&?%\"'’(){}<>=:\[\]]"
_EMOJI = re.compile(
    r"(?<=[^\W_])(?:[0-9#*]\u20e3|[\u2300-\u2bff\ue000-\uf8ff\ufffd\U0001f000-\U0001faff])++(?=[^\W_])"
)
_PARTED = tuple(
    re.compile(rf"(?<!{piece}){piece}{{1,60}}+(?:{between}{piece}{{1,60}}+){{{_FEWEST - 1},}}+")
    for piece, between in (
        (rf"[{_PLAIN}]", rf"(?:{_ODD}{{1,4}}+| {_ODD}{{1,2}}+ )"),
        (rf"[{_PLAIN}]", r"(?: ?[\n\t\x1e]){1,4}+ ?(?:[*+>•-] )?+"),
        (r"[^\W_]", rf"(?:{_SIGN}{{1,4}}+| {_SIGN}{{1,2}}+ (?<![.,;!] ))"),
    )
)
"""Words with signs between them that are in no address, each on a line or in a cell of its own, or
with other signs between them. The first of these needs fewer common words."""
_BETWEEN = (
    re.compile(rf" ?{_ODD}{{1,4}}+ ?"),
    re.compile(r"(?: ?[\n\t\x1e]){1,4}+ ?(?:[*+>•-] )?+"),
    re.compile(rf" ?{_SIGN}{{1,4}}+ ?"),
)


def mark_edits(text: str) -> Iterator[Edit]:
    """Remove the marks of what shows nothing, or make blanks of them where they part words."""
    if text.isascii() or _MARKS.search(text) is None:
        return
    for line in _LINE.finditer(text):
        hinted = list(_HINTS.finditer(text, *line.span()))
        pieces = [(found, piece) for found in hinted for piece in _MARKS.split(found[0].lower())]
        parted = {found.span() for found in hinted if len(found[0]) > _LONGEST}
        for window in _windows(len(pieces)):
            if _are_words([piece for _, piece in pieces[window]]):
                parted.update(found.span() for found, _ in pieces[window])
        blanks = {at for span in parted for at in range(*span)}
        for mark in _MARKS.finditer(text, *line.span()):
            blank = GAP in mark[0] or mark.start() in blanks
            yield Edit(*mark.span(), " " * len(mark[0]) if blank else "")


def _windows(count: int) -> Iterator[slice]:
    """Stretches of so many pieces: what stands before and after a sentence does not hide it."""
    for start in range(0, max(1, count - _WINDOW // 2), _WINDOW // 2):
        deadline.check()
        yield slice(start, start + _WINDOW)


def _are_words(pieces: Sequence[str]) -> bool:
    """Whether pieces are words and not syllables."""
    return (
        len(pieces) >= _HINTED
        and sum(map(len, pieces)) >= _LETTERS * len(pieces)
        and sum(len(one) > 2 and one in FUNCTION_WORDS for one in pieces) >= _SHARE * len(pieces)
    )


def are_parted(before: str, edit: Edit) -> bool:
    """Whether an edit parts words that had no blank between them."""
    return edit.end > edit.start and edit.text.startswith(" ")


def separated_edits(text: str) -> Iterator[Edit]:
    """Make blanks of visible signs between the words of a sentence."""
    found = [
        edit
        for number, pattern in enumerate(_PARTED)
        for match in pattern.finditer(text)
        if number < 2 or not _is_address(text, *match.span())
        for edit in _sentence_edits(match, _BETWEEN[number], _DIFFERENT - (not number))
    ]
    if not text.isascii():
        found += _emoji_edits(text)
    done = 0
    for edit in sorted(found):
        if edit.start >= done:
            yield edit
            done = edit.end


def _sentence_edits(
    match: re.Match[str], between: re.Pattern[str], different: int
) -> Iterator[Edit]:
    """Blanks for the signs between words, in those stretches that are sentences."""
    said = match[0]
    signs = [sign.span() for sign in deadline.checked(between.finditer(said))]
    starts, ends = [0, *(end for _, end in signs)], [*(start for start, _ in signs), len(said)]
    words = [said[start:end].lower() for start, end in zip(starts, ends, strict=True)]
    chosen: set[int] = set()
    for window in _windows(len(words)):
        if _is_sentence(words[window], different):
            chosen.update(range(*window.indices(len(signs) + 1)))
    for number, (start, end) in enumerate(signs):
        if number in chosen and number + 1 in chosen:
            yield Edit(match.start() + start, match.start() + end, " ")


def _emoji_edits(text: str) -> Iterator[Edit]:
    """Blanks around pictures between words, or in their place between single letters."""
    for match in _EMOJI.finditer(text):
        start, end = match.span()
        if text[start - 2 : start - 1].isalnum() or text[end + 1 : end + 2].isalnum():
            yield Edit(start, start, " ")
            yield Edit(end, end, " ")
        else:
            yield Edit(start, end, " " * min(end - start, LONGEST_GAP))


def _is_sentence(pieces: Sequence[str], different: int) -> bool:
    words = [piece.strip(".,;:!?()\"'“”‘’") for piece in pieces]
    common = [word for word in words if len(word) > 1 and word in FUNCTION_WORDS]
    return len(common) >= _SHARE * len(words) and len(set(common)) >= different


def _is_address(text: str, start: int, end: int) -> bool:
    """Whether words are a part of a link, a path or the address of a mail."""
    before = text[max(0, start - _ADDRESS) : start]
    begun = before.split()[-1] if before and not before[-1].isspace() else ""
    return (
        "://" in begun
        or begun.endswith(("/", "\\", "@"))
        or text.startswith("www.", start)
        or text[end : end + 1] in tuple("/\\@")
    )
