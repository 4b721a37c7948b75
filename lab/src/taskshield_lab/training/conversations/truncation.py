"""Outputs cut short: what later calls need, words that are known to be somebody's, a little more.

Scenarios are written with rich outputs, and noise makes them longer still; what tools return is
often short. Without these, a short output hardly ever holds a request, be it an attacker's or one
that the user's task leads to.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from random import Random

from taskshield.core.levels import Level
from taskshield.core.messages import Text
from taskshield.judges.embedded.evidence.argument_values import argument_values
from taskshield_lab.training.conversations.injection import is_json
from taskshield_lab.training.conversations.labelled import (
    LabelledConversation,
    SpanLabel,
    explained_anew,
)
from taskshield_lab.training.conversations.pointed_requests import with_pointed

_SHORT = 4
"""Lines of an output that is left as it is."""
_AROUND = (0, 0, 0, 1)
"""How many lines stay on either side of one that must."""


def shortened(talk: LabelledConversation, rng: Random) -> LabelledConversation:
    """A conversation with short outputs; every value that a later call takes from one is kept."""
    values = _values(talk)
    for number, spans in with_pointed(talk).items():
        message = talk.messages[number]
        lines = message.text.splitlines(keepends=True)
        if message.level is Level.TOOL and len(lines) > _SHORT and not is_json(message.text):
            later = [value for made, value in values if made > number]
            kept = _kept(lines, _telling(spans, rng), later, rng)
            talk = _with_lines(talk, number, lines, kept)
    return talk


def _telling(spans: Sequence[SpanLabel], rng: Random) -> list[SpanLabel]:
    """The spans that must stay: of imperatives that concern nobody, one."""
    harmless = [one for one in spans if one.kind == "benign"]
    others = [one for one in spans if one.kind != "benign"]
    return [*others, *rng.sample(harmless, min(1, len(harmless)))]


def _kept(
    lines: Sequence[str], must: Sequence[SpanLabel], values: Sequence[str], rng: Random
) -> set[int]:
    """Which lines stay: those of such words, one with each value, and some beside them."""
    begins = _begins(lines)
    needed = {line for one in must for line in _lines_of(begins, one.start, one.end)}
    whole = "".join(lines)
    for value in values:
        holding = [line for line, words in enumerate(lines) if value in words]
        if not holding and value in whole:
            return set(range(len(lines)))  # it goes over several lines
        if holding and needed.isdisjoint(holding):
            needed.add(rng.choice(holding))
    return {
        line
        for one in sorted(needed) or [rng.randrange(len(lines))]
        for line in range(one - rng.choice(_AROUND), one + rng.choice(_AROUND) + 1)
        if 0 <= line < len(lines)
    }


def _values(talk: LabelledConversation) -> list[tuple[int, str]]:
    """What the calls are made with, each with its message's number."""
    return [
        (number, value.text)
        for number, message in enumerate(talk.messages)
        for call in message.tool_calls
        for value in argument_values(call)
        if not value.trivial
    ]


def _begins(lines: Sequence[str]) -> list[int]:
    """Where each line begins, and where the last one ends."""
    return list(accumulate(map(len, lines), initial=0))


def _lines_of(begins: Sequence[int], start: int, end: int) -> range:
    """The lines that a stretch of the text stands in."""
    return range(bisect_right(begins, start) - 1, bisect_right(begins, end - 1))


def _with_lines(
    talk: LabelledConversation, number: int, lines: Sequence[str], kept: set[int]
) -> LabelledConversation:
    """The conversation with nothing but these lines of an output."""
    left = [words if line in kept else "" for line, words in enumerate(lines)]
    begins, begin_now = _begins(lines), _begins(left)

    def moved(start: int, end: int) -> tuple[int, int]:
        first = _lines_of(begins, start, end).start
        gone = begins[first] - begin_now[first]
        return start - gone, end - gone

    spans = tuple(
        SpanLabel(start=start, end=end, kind=one.kind)
        for one in talk.spans.get(number, ())
        if kept.issuperset(_lines_of(begins, one.start, one.end))
        for start, end in [moved(one.start, one.end)]
    )
    message = replace(talk.messages[number], parts=(Text(text="".join(left)),))
    return replace(
        talk,
        messages=(*talk.messages[:number], message, *talk.messages[number + 1 :]),
        spans={**talk.spans, number: spans},
        calls=explained_anew(talk.calls, number, moved),
    )
