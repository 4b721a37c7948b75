"""Text of one kind, indexed by word: is a value in it, and where?

Finding a value takes time by the length of the value, not of the text. Text is added at the end and
dropped from the beginning, each in time by its length.
"""

import math
from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from taskshield.core.provenance import TextLocation
from taskshield.judges.embedded.evidence.argument_values import ArgumentValue
from taskshield.judges.embedded.evidence.tokens import Tokens
from taskshield.judges.embedded.evidence.value_forms import Part, Words, parts

ENOUGH = 0.5
"""Share of a value that must be found for it to come from there."""
_GRAM = 4
_PLACES = 8
"""Places reported for a value."""
_TRIES = 4096
"""Occurrences of a common word that are searched; bounds the work on flooded output."""
_ALL_TRIES = 100 * _TRIES
"""The same for all values of a call together."""
_GRAM_TRIES = 512
_COMPARED = 1 << 18
"""Words that are compared at all occurrences together: a long value that repeats one word would
otherwise be compared as a whole at each of them."""
_GRAMS = 200
"""Four-word stretches of a long text that are searched, evenly spread over it."""
_BY_CHANCE = 0.1
"""How much less a match counts in a long place, which shares more by chance."""


@dataclass(frozen=True, slots=True)
class Match:
    """How much of a value one text has, and where."""

    share: float = 0.0
    places: tuple[TextLocation, ...] = ()


@dataclass(slots=True)
class TextIndex:
    """Text of one kind, indexed by word."""

    _words: list[str] = field(default_factory=list)
    _glued: bytearray = field(default_factory=bytearray)
    _places: list[TextLocation | None] = field(default_factory=list)
    _at: dict[str, list[int]] = field(default_factory=dict)
    """Positions of each word, counted from the first word that was ever added."""
    _forgotten: int = 0
    """Words that were added and dropped: the position of the first word that is still here."""
    _messages: deque[tuple[int, int]] = field(default_factory=deque)
    """Each message with the position of its first word."""

    def add(self, tokens: Tokens, place: TextLocation, *, runs_on: bool = False) -> None:
        """More text, which may run on from what was added before."""
        if not runs_on:
            self._messages.append((place.message, self._forgotten + len(self._words)))
            self._append(("",), (False,), None)
        for position, word in enumerate(tokens.words, self._forgotten + len(self._words)):
            self._at.setdefault(word, []).append(position)
        self._append(tokens.words, tokens.glued, place)

    def forget(self, message: int) -> None:
        """Drop the oldest message here, if it is this one: as if it had never been added."""
        if not self._messages or self._messages[0][0] != message:
            return
        self._messages.popleft()
        end = self._messages[0][1] if self._messages else self._forgotten + len(self._words)
        count = end - self._forgotten
        for word, times in Counter(self._words[1:count]).items():  # the first separates texts
            occurrences = self._at[word]
            if times == len(occurrences):
                del self._at[word]
            else:
                del occurrences[:times]
        del self._words[:count], self._glued[:count], self._places[:count]
        self._forgotten = end

    def hit(self, value: ArgumentValue, values: int = 1) -> Match:
        """How much of a value is here, and where.

        Args:
            value: The value.
            values: How many values the call has; of many, each is searched at fewer places.
        """
        wanted = parts(value)
        tries = max(_PLACES, min(_TRIES, _ALL_TRIES // values))
        found = [self._part(part, value.kind == "number", tries) for part in wanted]
        share = sum(1 for places in found if places) / len(found)
        if not share and value.kind in ("text", "name", "path"):
            return self._grams(wanted[0].ways[0] if wanted[0].ways else ())
        merged = dict.fromkeys(place for places in found for place in places)
        return Match(share, tuple(merged)[:_PLACES])

    def sharing(self, words: Iterable[str]) -> list[tuple[TextLocation, float]]:
        """Places that share words with these, and which part of them, in no order.

        A word counts by how rare it is here.
        """
        wanted = {
            word: math.log((len(self._words) + 1) / max(1, len(self._at.get(word, ()))))
            for word in words
        }
        shared: dict[TextLocation, float] = {}
        for word, rarity in wanted.items():
            found = self._at.get(word, ())[:_GRAM_TRIES]
            for place in dict.fromkeys(self._places[at - self._forgotten] for at in found):
                assert place is not None
                shared[place] = shared.get(place, 0.0) + rarity
        whole = sum(wanted.values())
        return [(place, share / whole) for place, share in shared.items()]

    def _append(self, words: Words, glued: tuple[bool, ...], place: TextLocation | None) -> None:
        self._words.extend(words)
        self._glued.extend(glued)
        self._places.extend([place] * len(words))

    def _part(self, part: Part, number: bool, tries: int) -> list[TextLocation]:
        for words in part.ways:
            places = self._phrase(words, part.whole, number, tries)
            if places:
                return places
        return []

    def _phrase(self, words: Words, whole: bool, number: bool, tries: int) -> list[TextLocation]:
        rarest, occurrences = 0, self._at.get(words[0], ())
        for index, word in enumerate(words):
            here = self._at.get(word, ())
            if len(here) < len(occurrences):
                rarest, occurrences = index, here
            if not here:
                return []
        found: dict[TextLocation, None] = {}
        for at in occurrences[: max(_PLACES, min(tries, _COMPARED // len(words)))]:
            start = at - rarest - self._forgotten
            end = start + len(words)
            if tuple(self._words[start:end]) != words:
                continue
            if whole and not self._stands_alone(start, end, number):
                continue
            place = self._places[start]
            assert place is not None
            found[place] = None
            if len(found) == _PLACES:
                break
        return list(found)

    def _stands_alone(self, start: int, end: int, number: bool) -> bool:
        """Whether these words are not the middle of a longer address, link or number."""
        before = self._words[start - 1] if self._glued[start - 1] else ""
        after = self._words[end] if self._glued[end - 1] else ""
        if number:  # "120/month" has the number 120, "120-5" has not
            return not before[-1:].isdigit() and not after[:1].isdigit()
        return not before and not after

    def _grams(self, words: Words) -> Match:
        if len(words) <= _GRAM:
            return Match()
        counts: Counter[TextLocation] = Counter()
        hits = 0
        last = len(words) - _GRAM
        starts = range(0, last + 1, last // _GRAMS + 1)
        for at in starts:
            places = self._phrase(words[at : at + _GRAM], False, False, _GRAM_TRIES)
            hits += bool(places)
            counts.update(places)
        best = tuple(place for place, _ in counts.most_common(_PLACES))
        return Match(hits / len(starts), best)


def best_first(found: Iterable[tuple[TextLocation, float]]) -> list[tuple[TextLocation, float]]:
    """Places with what they share, those first that share most for their length."""
    return sorted(found, key=lambda one: -one[1] / _length(one[0]))


def _length(place: TextLocation) -> float:
    return 1 + _BY_CHANCE * math.sqrt((place.end - place.start) / 6)
