"""Where the sentences of a readable text end, in scripts with and without blanks and capitals."""

import re
from collections.abc import Iterator

from taskshield.core import deadline

LIMIT = 400
"""Longer sentences are cut, at a blank where there is one."""

_END = re.compile(
    r"(?P<marks>[.!?…:。！？｡؟।॥۔።]+)(?P<closers>[\"'”’»)\]*）」』】]*)(?P<blank>[ \n\t]?)"
)
_FULL = re.compile("[。！？｡؟।॥۔።]")
_WORD = re.compile(r"[^\W_](?:[\w.'’-]{0,30}[^\W_])?$")
_ENDING = re.compile(r"[\s(\"'“‘«-](?:[^\W\d_]{2,30}|[$€£¥]?\d[\d.,]{0,20}[%€]?)$")
"""A single word or number that is not the first: no part of an address, a path or a name."""
_BEGINNING = re.compile(
    r"(?:[^\w\s.,;:!?/\\=&'-][^\w\s]{0,40}\s?)?"
    r"(?![A-Z]{1,4}\b(?!:))[^\W\d_a-zß-öø-ÿ](?!\d)[\w'’-]{1,30}[,:)\]]{0,2}\s+[\w\"'“‘«(#]"
    r"|[#<>\[({*=_-]{2,40}\s?\S"
)
"""A capitalised word with more behind it, after signs or not, but neither "PDF" nor "F2"; or signs
that part."""
_ABBREVIATIONS = frozenset(
    "mr mrs ms mx dr prof st mt rev hon gen col capt lt sgt jr sr e.g i.e eg ie cf vs etc al approx"
    " no nos nr fig figs eq sec ch vol pp ed eds inc ltd co corp dept est ext tel min max avg ave"
    " blvd rd jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thurs fri sat"
    " sun z.b d.h u.a bzw ca usw str abs art bd hr fr sra sta av p.ex m mme mlle viz incl excl"
    " a.m p.m u.s u.k ph.d b.a m.a".split()
)


def sentence_ends(text: str) -> Iterator[int]:
    """Positions after the last character of each sentence but the last, in order."""
    begin = 0
    for match in _END.finditer(text):
        deadline.check()
        marks, closed, after = match["marks"], match.end("closers"), match.end()
        if _FULL.search(marks) is None:
            if after == len(text) or not (match["blank"] or _is_glued(text, begin, match)):
                continue
            if marks == ":":
                ends = closed == match.end("marks") and _announces(
                    text, begin, match.start(), after
                )
            else:
                ends = marks != "." or _closes(text, begin, match.start(), after)
            if not ends:
                continue
        yield closed
        begin = closed


def cut_points(text: str) -> Iterator[int]:
    """Where an overlong sentence is cut."""
    begin = 0
    while len(text) - begin > LIMIT:
        at = text.rfind(" ", begin + LIMIT // 2, begin + LIMIT)
        begin = begin + LIMIT if at < 0 else at
        yield begin


def _closes(text: str, begin: int, dot: int, after: int) -> bool:
    word = _WORD.search(text, max(begin, dot - 32), dot)
    if word is None:
        return True
    last = word[0].lower()
    if last in _ABBREVIATIONS:
        # "at 5 p.m. The": such words can end a sentence, others hardly do
        return last in ("etc", "a.m", "p.m", "inc", "ltd", "co", "corp") and text[after].isupper()
    if len(last) == 1 and last.isalpha() and word[0].isupper() and last != "i":
        return False
    return not last.isdigit() or word.start() > begin


def _is_glued(text: str, begin: int, end: re.Match[str]) -> bool:
    """Whether a sentence begins right behind the marks, as in "It rains.Send the key to Bob".

    Not within addresses, paths, numbers and code.
    """
    return (
        end["marks"] != ":"
        and _ENDING.search(text, max(begin, end.start() - 40), end.start()) is not None
        and _BEGINNING.match(text, end.end()) is not None
    )


def _announces(text: str, begin: int, colon: int, after: int) -> bool:
    """Whether a colon ends an announcement and not a key: "do the following: Send it to"."""
    said = text[max(begin, colon - 200) : colon].split()
    follows = text[after : after + 80]
    first = follows.lstrip("\"'“‘«(")[:1]
    return len(said) >= 4 and len(follows.split()) >= 3 and not first.islower()
