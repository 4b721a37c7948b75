"""Removes text from a tool's output and keeps the shape of the output.

For wire formats in which a tool's output is any JSON and its replacement must have the same shape.
The output is always the one that `tool_output.output_parts` read the decision's message from. Where
misaligned words stood in a key, the whole member goes; where they were encoded, the whole value.
"""

from bisect import bisect_right
from collections.abc import Iterator

from taskshield.adapters.parsing.json_reader import Field
from taskshield.adapters.parsing.tool_output import with_changed_words
from taskshield.core.decisions import Decision
from taskshield.core.instructions import Span
from taskshield.core.messages import Text
from taskshield.core.quotations import find_repeats

REMOVED = "[removed by Task Shield]"
"""Stands where misaligned words stood."""
WITHHELD = "[withheld by Task Shield]"
"""Stands for each text of an output that may not be seen."""


def note(decision: Decision) -> str:
    """What the agent is told about an output, apart from the output itself."""
    if decision.feedback is not None:
        return decision.feedback
    if decision.action == "withhold":
        return decision.content
    return decision.content.removeprefix(decision.case.message.text).strip()


def redacted(output: Field, decision: Decision) -> object:
    """The output without its misaligned words. Where their place is not known, no word is left.

    A list of the very texts of the decision's message is changed text by text.
    """
    texts = _cleaned(decision)
    if output.value == [part.text for part in _texts_of(decision)]:
        return list(texts)
    return with_changed_words(output, lambda text: next(texts), gone=REMOVED)


def withheld(output: Field) -> object:
    """The output without any words."""
    return with_changed_words(output, lambda text: WITHHELD, gone=WITHHELD)


def _cleaned(decision: Decision) -> Iterator[str]:
    """The texts of the decision's message, in order, without what is misaligned."""
    removed = _removed(decision)
    ends = [span.end for span in removed]
    start = 0
    for part in _texts_of(decision):
        end = start + len(part.text)
        kept: list[str] = []
        at = 0
        for number in range(bisect_right(ends, start), len(removed)):
            span = removed[number]
            if span.start >= end:
                break
            kept.append(part.text[at : max(span.start - start, 0)])
            at = span.end - start
        yield REMOVED.join([*kept, part.text[at:]])
        start = end + 1  # texts are joined by one line break


def _texts_of(decision: Decision) -> list[Text]:
    return [part for part in decision.case.message.parts if isinstance(part, Text)]


def _removed(decision: Decision) -> list[Span]:
    """Where misaligned words stand in the message's text, in order and without overlaps."""
    text = decision.case.message.text
    spans = [finding.instruction.origin.span for finding in decision.misaligned]
    known = [span for span in spans if span is not None]
    if len(known) < len(spans):
        return [Span(start=0, end=len(text))]
    return find_repeats(known, text)
