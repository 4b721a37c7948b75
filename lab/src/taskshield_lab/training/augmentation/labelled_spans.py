"""Labelled spans that survive any rewriting of the text around them.

Two characters that no data has (from Unicode's private use area) mark the ends of a span. The text
can then be escaped, wrapped, split into lines or moved. At the end the markers are removed, and
their positions are the exact offsets.
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
class SpanTag:
    """What a marked text is."""

    kind: Literal["attack", "goal", "benign", "obey"]
    """A whole payload, the goal inside it, or a sentence that is no attacker's."""
    attack: int | None = None
    """Which of the scenario's attacks it asks for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundSpan(Generic[_Label]):
    """A span and its label."""

    start: int
    end: int
    label: _Label


@dataclass(slots=True)
class SpanMarkers(Generic[_Label]):
    """The spans of one text while it is being made."""

    _labels: list[_Label] = field(default_factory=list)

    def mark(self, text: str, label: _Label) -> str:
        """The text between two markers."""
        opening = _FIRST + 2 * len(self._labels)
        if opening >= _LAST:
            raise ValueError("A text has too many spans.")
        self._labels.append(label)
        return f"{chr(opening)}{text}{chr(opening + 1)}"

    def mark_all(self, text: str, sentences: Iterable[str], label: _Label) -> str:
        """The text with every occurrence of these sentences marked."""
        for sentence in sorted(set(sentences), key=lambda one: (-len(one), one)):
            rest, done = text, ""
            while sentence and sentence in rest:
                before, rest = rest.split(sentence, 1)
                done += before + self.mark(sentence, label)
            text = done + rest
        return text

    def extract(self, text: str) -> tuple[str, tuple[FoundSpan[_Label], ...]]:
        """The text without markers and its trimmed spans, without those that were lost."""
        places: dict[int, int] = {}
        for number, match in enumerate(_FENCE.finditer(text)):
            places.setdefault(ord(match[0]) - _FIRST, match.start() - number)
        joined = strip_markers(text)
        return joined, tuple(
            FoundSpan(start=span[0], end=span[1], label=label)
            for number, label in enumerate(self._labels)
            if 2 * number in places and 2 * number + 1 in places
            for span in [_trimmed(joined, places[2 * number], places[2 * number + 1])]
            if span[0] < span[1]
        )


def strip_markers(text: str) -> str:
    """The text without markers."""
    return _FENCE.sub("", text)


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return start, end
