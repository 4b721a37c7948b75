"""Inserts a text into a tool output and moves the labelled spans."""

import re
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Literal, NamedTuple

from taskshield.core.levels import Level
from taskshield.core.messages import Message, Text
from taskshield_lab.training.conversations.labelled import (
    LabelledConversation,
    OffsetMap,
    SpanLabel,
    shift_explanations,
)

InsertedKind = Literal["wish", "echo", "obey", "benign"]

MIN_LENGTH = 40
"""Characters that an output must have for a text to be inserted."""
_IN_QUOTES = re.compile(r"""(?:"[^"\\]{6,}"|'[^'\\]{6,}')(?=\s*[,}\]])""")
_GAP = re.compile(r"(?<=[.!?])\s+|\n")


def in_one_string(words: str) -> str:
    """The text in a form that fits into a string of JSON as well."""
    return words.replace('"', "'").replace("\\", "/")


def long_outputs(messages: Sequence[Message]) -> list[int]:
    """The indices of the outputs that are long enough for an inserted text."""
    return [
        number
        for number, message in enumerate(messages)
        if message.level is Level.TOOL and len(message.text) >= MIN_LENGTH
    ]


class Insertion(NamedTuple):
    """An output with an inserted text, and its spans."""

    message: Message
    words: SpanLabel
    spans: tuple[SpanLabel, ...]
    offsets: OffsetMap
    """From offsets in the old text to offsets in the new one."""


def insert_words(
    output: Message,
    words: str,
    spans: Sequence[SpanLabel],
    rng: Random,
    kind: InsertedKind = "wish",
) -> Insertion:
    """The output with a text in one of its strings or between two of its sentences."""
    text = output.text
    places = [
        (at, lead, trail)
        for at, lead, trail in _places(text)
        if not any(span.start < at < span.end for span in spans)
    ]
    at, lead, trail = rng.choice(places or [(len(text), " ", "")])
    start, added = at + len(lead), len(lead) + len(words) + len(trail)
    own = SpanLabel(start=start, end=start + len(words), kind=kind)

    def offsets(start: int, end: int) -> tuple[int, int]:
        later = added if start >= at else 0
        return start + later, end + later

    others = [
        SpanLabel(start=start, end=end, kind=span.kind)
        for span in spans
        for start, end in [offsets(span.start, span.end)]
    ]
    part = Text(text=f"{text[:at]}{lead}{words}{trail}{text[at:]}")
    return Insertion(replace(output, parts=(part,)), own, (*others, own), offsets)


def insert_into_conversation(
    conversation: LabelledConversation, output: int, words: str, kind: InsertedKind, rng: Random
) -> LabelledConversation:
    """The conversation with a text in the output of this index."""
    inserted = insert_words(
        conversation.messages[output], words, conversation.spans.get(output, ()), rng, kind
    )
    return replace(
        conversation,
        messages=(
            *conversation.messages[:output],
            inserted.message,
            *conversation.messages[output + 1 :],
        ),
        spans={**conversation.spans, output: inserted.spans},
        calls=shift_explanations(conversation.calls, output, inserted.offsets),
    )


def _places(text: str) -> list[tuple[int, str, str]]:
    """Positions for an inserted text, each with the characters before and after it."""
    quoted = [(match.end() - 1, " ", "") for match in _IN_QUOTES.finditer(text)]
    if text.lstrip()[:1] in ("{", "[") and quoted:
        return quoted
    lead = "" if not text or text[-1].isspace() else " "
    gaps = [(match.end(), "", " ") for match in _GAP.finditer(text)]
    return [(0, "", " "), *gaps, (len(text), lead, "")]
