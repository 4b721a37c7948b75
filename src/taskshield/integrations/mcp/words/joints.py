"""Sentences that are spread over several texts: a word in each block, or one cut in two.

Pure, and linear in the length of the texts.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from taskshield.adapters.parsing.encoded_text import decoded, word_behind

_END = re.compile(r"[.!?](?=\s|$)|[\n。！？]")
"""The end of a sentence."""
_MARKS = ".!?,;:。！？ \t\r\n"
_REACH = 500
"""Longest part of a text that is read together with its neighbour."""
_FRAGMENT = 3
"""Most words of a text that is no sentence."""
ROW = 4
"""Fewest words that may be a sentence together; in objects and columns more are needed."""
_KEYS = object()
"""The place of the keys of objects with one member each."""
_SYLLABLE = 3
"""Longest average text that may be part of a word."""


def across(texts: Iterable[str], *, loose: bool = True) -> Iterator[str]:
    """What texts say where one goes on in the next.

    Args:
        texts: Texts that a reader sees one after the other.
        loose: Also join a short text with a sentence after it. Titles stand so in data.
    """
    pieces: list[str] = []
    for text in texts:
        fragment = is_fragment(text)
        if pieces and not loose and not fragment and _starts_anew(pieces[-1], text):
            yield from _together(pieces)
            pieces = []
        if fragment:
            pieces.append(text)
            continue
        head, tail = _edges(text)
        if pieces:
            yield from _together([*pieces, head])
        pieces = [tail] if tail.strip() else []
    yield from _together(pieces)


def is_fragment(text: str) -> bool:
    """Whether a text is too short for a sentence."""
    return len(text) <= _REACH and len(text.split(None, _FRAGMENT)) <= _FRAGMENT


def shown(element: object) -> str | None:
    """The text that a client shows for an element of a list."""
    if isinstance(element, str):
        return element
    if not isinstance(element, Mapping):
        return None
    if isinstance(element.get("text"), str):
        return str(element["text"])
    if isinstance(element.get("blob"), str):
        blob = str(element["blob"])
        return word_behind(blob) or decoded(blob)
    return shown(element.get("content")) or shown(element.get("resource"))


def columns(elements: list[Any]) -> Iterator[str]:
    """What single words say that stand under each other in the elements of a list."""
    found: dict[object, list[str]] = {}
    for element in elements:
        if isinstance(element, Mapping):
            members: Iterable[tuple[object, object]] = element.items()
            if len(element) == 1:
                found.setdefault(_KEYS, []).extend(element)
        else:
            members = enumerate(element) if isinstance(element, list) else ()
        for place, member in members:
            if isinstance(member, str) and is_word(member):
                found.setdefault(place, []).append(member)
    for words in found.values():
        if len(words) > ROW and len(set(words)) * 2 > len(words):  # sentences repeat few words
            yield from across(words)


def is_word(text: str) -> bool:
    """Whether a text is one word, or what stands between words."""
    return bool(text) and is_fragment(text) and len(text.split(None, 1)) <= 1


def _together(pieces: list[str]) -> Iterator[str]:
    """The pieces as one text, and as one word if they may be parts of words."""
    if len(pieces) < 2:
        return
    words = (piece.strip(_MARKS) if is_fragment(piece) else piece for piece in pieces)
    yield " ".join(" ".join(words).split())
    if sum(map(len, pieces)) <= _SYLLABLE * len(pieces) or _is_cut(pieces):
        yield "".join(pieces)


def _is_cut(pieces: list[str]) -> bool:
    """Whether two texts may be the parts of one that was cut within a word."""
    if len(pieces) != 2 or not pieces[0][-1:].isalpha():
        return False
    return pieces[1][:1].islower() or pieces[0][-1:].isupper()


def _starts_anew(before: str, text: str) -> bool:
    """Whether a sentence after a short text is a sentence of its own."""
    return is_fragment(before) and not text.lstrip()[:1].islower()


def _edges(text: str) -> tuple[str, str]:
    """The text up to its first end of a sentence, and what follows the last one."""
    first = _END.search(text, 0, _REACH)
    head = text[: first.end()] if first else text[:_REACH]
    tail = text[-_REACH:]
    ends = [end.end() for end in _END.finditer(tail)]
    return head, tail[ends[-1] :] if ends else tail
