"""Injected directives in tool output: neighbouring segments that try to direct the agent.

The model says which segments do. This module joins their words and finds them again, for training
and serving alike.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from taskshield.judges.embedded.text.segments import Segment

_LONGEST = 600
"""Characters of one directive; what is longer becomes several."""
_GAP = 2
"""Segments between two parts of one directive that belong to it, whatever they say."""


DEFINED = -1
"""Stands for the number of a message: definitions are read before any message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Directive:
    """Words in a tool's output, or in its definition, that try to direct the agent."""

    message: int
    """Number of the message that they stand in; `DEFINED` for those of a definition."""
    text: str
    """As a person would read them."""
    tool: str = ""
    """The tool whose output or definition it is."""
    id: str = ""
    """Its id in the session; empty for those of a definition."""

    @property
    def where(self) -> str:
        """Where it stands, in words."""
        part = "definition" if self.message == DEFINED else "output"
        return f"the {part} of {self.tool}" if self.tool else "the data"


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentGroup:
    """Neighbouring segments, by number, and their words."""

    first: int
    last: int
    text: str


def directive_segments(
    segments: Sequence[Segment], chances: Sequence[float], *, seed: float, joined: float
) -> list[int]:
    """The segments that belong to injected directives, by number.

    An attacker's order is often worded like any other request; the words around it betray it. So a
    directive extends from the segments that are likely injected to neighbours that may be, over
    short gaps, and from an announcement to what it announces.

    Args:
        segments: All segments of an output.
        chances: For each, how likely it is injected.
        seed: From this probability on, a segment is injected.
        joined: From this probability on, a neighbour is.
    """
    chosen = {number for number, chance in enumerate(chances) if chance >= seed}
    for number in sorted(chosen):
        for step in (-1, 1):
            at = number + step
            while 0 <= at < len(chances) and at not in chosen and chances[at] >= joined:
                chosen.add(at)
                at += step
    for before, after in pairwise(sorted(chosen)):
        if after - before <= _GAP + 1:
            chosen.update(range(before + 1, after))
    for number in sorted(chosen):
        if segments[number].text.endswith((":", "：")) and number + 1 < len(chances):
            chosen.add(number + 1)
    return sorted(chosen)


def group_neighbours(segments: Sequence[Segment], chosen: Iterable[int]) -> list[SegmentGroup]:
    """The chosen segments, neighbours together as long as they are not too long."""
    found: list[SegmentGroup] = []
    for number in sorted(chosen):
        words = segments[number].text
        before = found[-1] if found else None
        if (
            before is not None
            and before.last == number - 1
            and len(before.text) + len(words) < _LONGEST
        ):
            found[-1] = SegmentGroup(first=before.first, last=number, text=f"{before.text} {words}")
        else:
            found.append(SegmentGroup(first=number, last=number, text=words))
    return found


def find_directive(segments: Sequence[Segment], directive: str) -> list[range]:
    """Wherever the words of neighbouring segments, joined, are these: the numbers of the segments.

    An attacker may inject the same words more than once.
    """
    texts = [segment.text for segment in segments]
    ends = [*accumulate(len(text) + 1 for text in texts)]
    """Where each segment ends in the joined words, its blank included."""
    starts = {
        end - len(text) - 1: number
        for number, (text, end) in enumerate(zip(texts, ends, strict=True))
    }
    stops = {end - 1: number + 1 for number, end in enumerate(ends)}
    joined = " ".join(texts)
    found = []
    at = joined.find(directive)
    while at >= 0:
        first, stop = starts.get(at), stops.get(at + len(directive))
        if first is not None and stop is not None:
            found.append(range(first, stop))
        at = joined.find(directive, at + 1)
    return found
