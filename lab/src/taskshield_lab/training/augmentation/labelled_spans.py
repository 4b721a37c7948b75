"""Labelled spans that survive any rewriting of the text around them.

A span is fenced with two characters that no data holds (Unicode's private use area). The text can
then be escaped, wrapped, cut into lines or moved; at the end the fences are taken out and give the
exact offsets.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar

_FIRST = 0xE000
_LAST = 0xF8FF
_FENCE = re.compile(f"[{chr(_FIRST)}-{chr(_LAST)}]")

_Label = TypeVar("_Label")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tag:
    """What a fenced text is."""

    kind: Literal["attack", "goal", "benign", "obey"]
    """A whole payload, the wish inside it, or a sentence by somebody who is no attacker."""
    attack: int | None = None
    """Which of the scenario's attacks it asks for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found(Generic[_Label]):
    """A span and what was said about it."""

    start: int
    end: int
    label: _Label


@dataclass(slots=True)
class Marks(Generic[_Label]):
    """The spans of one text, while it is being made."""

    _labels: list[_Label] = field(default_factory=list)

    def around(self, text: str, label: _Label) -> str:
        """This text, fenced."""
        opening = _FIRST + 2 * len(self._labels)
        if opening >= _LAST:
            raise ValueError("too many spans in one text")
        self._labels.append(label)
        return f"{chr(opening)}{text}{chr(opening + 1)}"

    def within(self, text: str, sentences: Iterable[str], label: _Label) -> str:
        """A text with every occurrence of these sentences fenced."""
        for sentence in sorted(set(sentences), key=lambda one: (-len(one), one)):
            rest, done = text, ""
            while sentence and sentence in rest:
                before, rest = rest.split(sentence, 1)
                done += before + self.around(sentence, label)
            text = done + rest
        return text

    def taken_out(self, text: str) -> tuple[str, tuple[Found[_Label], ...]]:
        """The bare text and its spans, trimmed; those that got lost on the way are left out."""
        places: dict[int, int] = {}
        for number, match in enumerate(_FENCE.finditer(text)):
            places.setdefault(ord(match[0]) - _FIRST, match.start() - number)
        joined = without_fences(text)
        return joined, tuple(
            Found(start=span[0], end=span[1], label=label)
            for number, label in enumerate(self._labels)
            if 2 * number in places and 2 * number + 1 in places
            for span in [_trimmed(joined, places[2 * number], places[2 * number + 1])]
            if span[0] < span[1]
        )


def without_fences(text: str) -> str:
    """The text as it will be read."""
    return _FENCE.sub("", text)


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return start, end
