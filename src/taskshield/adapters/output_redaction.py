"""Removes text from a tool's output and keeps the shape of the output.

For wire formats in which a tool's output is any JSON and its replacement must have the same shape.
The output is always the one that `tool_output.output_parts` read the decision's message from.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator

from taskshield.adapters.parsing.json_reader import Field
from taskshield.adapters.parsing.tool_output import output_parts
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
    """The output without its misaligned words. Where their place is not known, no word is left."""
    texts = _cleaned(decision)
    return _rewritten(output, lambda text: next(texts))


def withheld(output: Field) -> object:
    """The output without any words."""
    return _rewritten(output, lambda text: WITHHELD)


def _rewritten(field: Field, change: Callable[[str], str]) -> object:
    """The same value with each of its texts changed, in the order in which they are read."""
    value = field.value
    if isinstance(value, str):
        return change(value) if value else value
    if isinstance(value, list):
        return [_rewritten(element, change) for element in field.elements()]
    if isinstance(value, dict):
        return {
            str(member.key): _rewritten(member, change) if _is_read(member) else member.value
            for member in field.members()
        }
    return value


def _is_read(member: Field) -> bool:
    """Whether words of this member reach the judge; labels, for one, do not."""
    parent = member.parent
    kind = None if parent is None else parent["type"].value
    alone = Field(value={"type": kind, str(member.key): member.value}, key=member.key)
    return any(isinstance(part, Text) for part in output_parts(alone))


def _cleaned(decision: Decision) -> Iterator[str]:
    """The texts of the decision's message, in order, without what is misaligned."""
    removed = _removed(decision)
    ends = [span.end for span in removed]
    start = 0
    for part in decision.case.message.parts:
        if isinstance(part, Text):
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


def _removed(decision: Decision) -> list[Span]:
    """Where misaligned words stand in the message's text, in order and without overlaps."""
    text = decision.case.message.text
    spans = [finding.instruction.origin.span for finding in decision.misaligned]
    known = [span for span in spans if span is not None]
    if len(known) < len(spans):
        return [Span(start=0, end=len(text))]
    return find_repeats(known, text)
