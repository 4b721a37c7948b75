"""How much of a call one text explains: the values of its arguments and the words of its name."""

import re
from collections import Counter
from dataclasses import dataclass, replace
from functools import lru_cache

from taskshield.core import deadline
from taskshield.core.messages import ToolCall
from taskshield.core.provenance import TextLocation
from taskshield.judges.embedded.evidence.argument_values import argument_values
from taskshield.judges.embedded.evidence.text_index import ENOUGH, TextIndex
from taskshield.judges.embedded.evidence.tokens import Tokens, tokenize

_NAME_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+")
_ENDINGS = ("ing", "ed", "es", "s", "e")
_HERE = TextLocation(message=0, start=0, end=0)
_SHORT = 4_000
"""Texts up to this length are cached: tasks, requests and directives come with every call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """How much of a call occurs in a text."""

    values: int
    """Values that carry evidence."""
    values_found: int
    words: int
    """Words of the tool's name."""
    words_found: int

    @property
    def value_share(self) -> float:
        """Share of the values; 0 where no value carries evidence."""
        return self.values_found / self.values if self.values else 0.0

    @property
    def word_share(self) -> float:
        """Share of the name's words."""
        return self.words_found / self.words if self.words else 0.0

    @property
    def share(self) -> float:
        """Share of both together."""
        total = self.values + self.words
        return (self.values_found + self.words_found) / total if total else 0.0


def explained_share(call: ToolCall, segment_text: str) -> Explained:
    """Which share of a call's values and of its name occurs in this one text."""
    deadline.check()
    text = (_known if len(segment_text) <= _SHORT else _indexed)(segment_text)
    values = [value for value in argument_values(call) if not value.trivial]
    counts = Counter(replace(value, path="") for value in values)
    words = _name_stems(call.name)
    return Explained(
        values=len(values),
        values_found=sum(
            count
            for value, count in counts.items()
            if text.stream.hit(value, len(counts)).share >= ENOUGH
        ),
        words=len(words),
        words_found=sum(word in text.stems for word in words),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Indexed:
    """A text in which values and words are searched."""

    stream: TextIndex
    stems: frozenset[str]


def _indexed(text: str) -> _Indexed:
    tokens = tokenize(text)
    stream = TextIndex()
    stream.add(tokens, _HERE)
    return _Indexed(stream=stream, stems=frozenset(_stems(tokens)))


_known = lru_cache(maxsize=256)(_indexed)


@lru_cache(maxsize=256)
def _name_stems(name: str) -> tuple[str, ...]:
    """The words of a tool's name, those of one or two letters left out."""
    return tuple(_stem(word.casefold()) for word in _NAME_WORD.findall(name) if len(word) > 2)


def _stems(tokens: Tokens) -> set[str]:
    found = {_stem(word) for word in tokens.words}
    for index, glued in enumerate(tokens.glued[:-1]):
        if glued:  # "e-mail" is "email"
            found.add(_stem(tokens.words[index] + tokens.words[index + 1]))
    return found


def _stem(word: str) -> str:
    """A word without its English endings, so that "meetings" meets "meet"."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return _stem(word[: -len(ending)]) if len(word) <= 40 else word
    return word
