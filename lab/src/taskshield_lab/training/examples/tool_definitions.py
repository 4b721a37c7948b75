"""Training examples of tool definitions, some of them poisoned.

The MCP gateway shows them to the judge as the output of an unnamed tool.
"""

from collections.abc import Iterator, Sequence
from random import Random

from taskshield.judges.embedded.text.segments import segments
from taskshield_lab.training.conversations.labelled import LabelledConversation, SpanLabel
from taskshield_lab.training.examples.output_examples import OutputExample, label_of
from taskshield_lab.training.sources.scenarios import ToolDefinition

_POISONED = 0.5
"""Share of the tools in an attacked conversation whose description has the attack."""


def definition_example(definition: ToolDefinition) -> OutputExample:
    """A hand-written definition: only the injected texts are attacks."""
    return _output(definition.texts, definition.injected)


def tool_examples(conversation: LabelledConversation, rng: Random) -> Iterator[OutputExample]:
    """One tool of a conversation, perhaps with the attack in its description."""
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
    injected = [rng.choice(words)] if words and rng.random() < _POISONED else []
    place = rng.randrange(len(texts))
    texts[place] = rng.choice((" ", "\n", "\n\n")).join([texts[place], *injected])
    yield _output(texts, injected)


def _output(texts: Sequence[str], injected: Sequence[str]) -> OutputExample:
    whole = "\n".join(texts)
    starts = [(whole.index(words), len(words)) for words in injected]
    spans = [SpanLabel(start=at, end=at + size, kind="attack") for at, size in starts]
    found = segments(whole)
    return OutputExample(
        message=0,
        head="",
        pieces=tuple(segment.text for segment in found),
        labels=tuple(label_of(segment, spans, otherwise="benign") for segment in found),
    )
