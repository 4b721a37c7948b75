"""Truncates outputs to the lines that later calls need, labelled spans and a few more.

Scenarios have rich outputs, and noise makes them longer; what real tools return is often short.
Without truncation a short output would hardly ever have a request in it, be it an attacker's or one
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
    shift_explanations,
)
from taskshield_lab.training.conversations.pointed_requests import label_pointed_spans

_SHORT = 4
"""An output of so many lines is left as it is."""
_AROUND = (0, 0, 0, 1)
"""How many lines stay on either side of one that is needed."""


def truncate_outputs(conversation: LabelledConversation, rng: Random) -> LabelledConversation:
    """The conversation with short outputs that still have every value of a later call."""
    values = _values(conversation)
    for number, spans in label_pointed_spans(conversation).items():
        message = conversation.messages[number]
        lines = message.text.splitlines(keepends=True)
        if message.level is Level.TOOL and len(lines) > _SHORT and not is_json(message.text):
            later = [value for made, value in values if made > number]
            kept = _kept_lines(lines, _needed_spans(spans, rng), later, rng)
            conversation = _with_lines(conversation, number, lines, kept)
    return conversation


def _needed_spans(spans: Sequence[SpanLabel], rng: Random) -> list[SpanLabel]:
    """The spans that stay: all but the harmless imperatives, and one of those."""
    harmless = [one for one in spans if one.kind == "benign"]
    others = [one for one in spans if one.kind != "benign"]
    return [*others, *rng.sample(harmless, min(1, len(harmless)))]


def _kept_lines(
    lines: Sequence[str], must: Sequence[SpanLabel], values: Sequence[str], rng: Random
) -> set[int]:
    """The lines that stay: those of the spans, one with each value, and some beside them."""
    begins = _begins(lines)
    needed = {line for one in must for line in _lines_of(begins, one.start, one.end)}
    whole = "".join(lines)
    for value in values:
        holding = [line for line, words in enumerate(lines) if value in words]
        if not holding and value in whole:
            return set(range(len(lines)))  # the value spans several lines
        if holding and needed.isdisjoint(holding):
            needed.add(rng.choice(holding))
    return {
        line
        for one in sorted(needed) or [rng.randrange(len(lines))]
        for line in range(one - rng.choice(_AROUND), one + rng.choice(_AROUND) + 1)
        if 0 <= line < len(lines)
    }


def _values(conversation: LabelledConversation) -> list[tuple[int, str]]:
    """The argument values of all calls, each with the number of its message."""
    return [
        (number, value.text)
        for number, message in enumerate(conversation.messages)
        for call in message.tool_calls
        for value in argument_values(call)
        if not value.trivial
    ]


def _begins(lines: Sequence[str]) -> list[int]:
    """The offsets at which the lines begin, and the end of the last one."""
    return list(accumulate(map(len, lines), initial=0))


def _lines_of(begins: Sequence[int], start: int, end: int) -> range:
    """The lines that a span covers."""
    return range(bisect_right(begins, start) - 1, bisect_right(begins, end - 1))


def _with_lines(
    conversation: LabelledConversation, number: int, lines: Sequence[str], kept: set[int]
) -> LabelledConversation:
    """The conversation with only these lines of an output."""
    left = [words if line in kept else "" for line, words in enumerate(lines)]
    begins, begin_now = _begins(lines), _begins(left)

    def offsets(start: int, end: int) -> tuple[int, int]:
        first = _lines_of(begins, start, end).start
        removed = begins[first] - begin_now[first]
        return start - removed, end - removed

    spans = tuple(
        SpanLabel(start=start, end=end, kind=one.kind)
        for one in conversation.spans.get(number, ())
        if kept.issuperset(_lines_of(begins, one.start, one.end))
        for start, end in [offsets(one.start, one.end)]
    )
    message = replace(conversation.messages[number], parts=(Text(text="".join(left)),))
    return replace(
        conversation,
        messages=(*conversation.messages[:number], message, *conversation.messages[number + 1 :]),
        spans={**conversation.spans, number: spans},
        calls=shift_explanations(conversation.calls, number, offsets),
    )
