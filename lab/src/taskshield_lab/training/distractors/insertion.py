"""Somebody's words put into the output of a tool, and where they and others stand then."""

import re
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Literal, NamedTuple

from taskshield.core.levels import Level
from taskshield.core.messages import Message, Text
from taskshield_lab.training.conversations.labelled import (
    LabelledConversation,
    Moved,
    SpanLabel,
    explained_anew,
)

Kind = Literal["wish", "echo", "obey", "benign"]

READABLE = 40
"""Characters of a text from which on it can hold somebody's words among others."""
_IN_QUOTES = re.compile(r"""(?:"[^"\\]{6,}"|'[^'\\]{6,}')(?=\s*[,}\]])""")
_GAP = re.compile(r"(?<=[.!?])\s+|\n")


def in_one_string(words: str) -> str:
    """Words in a form that fits into a string of JSON as well."""
    return words.replace('"', "'").replace("\\", "/")


def readable(messages: Sequence[Message]) -> list[int]:
    """The outputs that are long enough to hold somebody's wish."""
    return [
        number
        for number, message in enumerate(messages)
        if message.level is Level.TOOL and len(message.text) >= READABLE
    ]


class Held(NamedTuple):
    """An output that holds somebody's words, and whose words stand where in it."""

    message: Message
    words: SpanLabel
    spans: tuple[SpanLabel, ...]
    moved: Moved
    """Where a stretch of the output stands now."""


def planted(
    output: Message,
    words: str,
    spans: Sequence[SpanLabel],
    rng: Random,
    kind: Kind = "wish",
) -> Held:
    """Words put into one of an output's strings or between two of its sentences."""
    text = output.text
    places = [
        (at, lead, trail)
        for at, lead, trail in _places(text)
        if not any(span.start < at < span.end for span in spans)
    ]
    at, lead, trail = rng.choice(places or [(len(text), " ", "")])
    start, added = at + len(lead), len(lead) + len(words) + len(trail)
    own = SpanLabel(start=start, end=start + len(words), kind=kind)

    def moved(start: int, end: int) -> tuple[int, int]:
        later = added if start >= at else 0
        return start + later, end + later

    others = [
        SpanLabel(start=start, end=end, kind=span.kind)
        for span in spans
        for start, end in [moved(span.start, span.end)]
    ]
    part = Text(text=f"{text[:at]}{lead}{words}{trail}{text[at:]}")
    return Held(replace(output, parts=(part,)), own, (*others, own), moved)


def with_words(
    talk: LabelledConversation, output: int, words: str, kind: Kind, rng: Random
) -> LabelledConversation:
    """A conversation with somebody's words in one of its outputs, by number of the message."""
    held = planted(talk.messages[output], words, talk.spans.get(output, ()), rng, kind)
    return replace(
        talk,
        messages=(*talk.messages[:output], held.message, *talk.messages[output + 1 :]),
        spans={**talk.spans, output: held.spans},
        calls=explained_anew(talk.calls, output, held.moved),
    )


def _places(text: str) -> list[tuple[int, str, str]]:
    """Where words fit into a text, with what goes before them and after them."""
    quoted = [(match.end() - 1, " ", "") for match in _IN_QUOTES.finditer(text)]
    if text.lstrip()[:1] in ("{", "[") and quoted:
        return quoted
    lead = "" if not text or text[-1].isspace() else " "
    gaps = [(match.end(), "", " ") for match in _GAP.finditer(text)]
    return [(0, "", " "), *gaps, (len(text), lead, "")]
