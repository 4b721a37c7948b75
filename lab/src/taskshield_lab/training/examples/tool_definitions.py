"""Descriptions of tools, some of them poisoned, as outputs that the model learns from.

The gateway shows them to the judge as the output of no tool in particular.
"""

from collections.abc import Iterator, Sequence
from random import Random

from taskshield.judges.embedded.text.segments import segments
from taskshield_lab.training.conversations.labelled import LabelledConversation, SpanLabel
from taskshield_lab.training.examples.examples import OutputExample, label_of
from taskshield_lab.training.sources.scenarios import Definition

_POISONED = 0.5
"""Share of the tools of an attacked conversation that ask for what its attacker wants."""


def heard(definition: Definition) -> OutputExample:
    """A written definition: what it tells the agent is its business, but for what is planted."""
    return _output(definition.texts, definition.planted)


def of_tools(conversation: LabelledConversation, rng: Random) -> Iterator[OutputExample]:
    """One of a conversation's tools, perhaps with its attacker's words in the description."""
    spec = rng.choice(conversation.tools)
    texts = list(spec.texts)
    if not texts:
        return
    words = [
        conversation.messages[number].text[span.start : span.end]
        for number, spans in conversation.spans.items()
        for span in spans
        if span.kind == "attack"
    ]
    planted = [rng.choice(words)] if words and rng.random() < _POISONED else []
    place = rng.randrange(len(texts))
    texts[place] = rng.choice((" ", "\n", "\n\n")).join([texts[place], *planted])
    yield _output(texts, planted)


def _output(texts: Sequence[str], planted: Sequence[str]) -> OutputExample:
    whole = "\n".join(texts)
    starts = [(whole.index(words), len(words)) for words in planted]
    spans = [SpanLabel(start=at, end=at + size, kind="attack") for at, size in starts]
    found = segments(whole)
    return OutputExample(
        message=0,
        head="",
        pieces=tuple(segment.text for segment in found),
        labels=tuple(label_of(segment, spans, otherwise="benign") for segment in found),
    )
