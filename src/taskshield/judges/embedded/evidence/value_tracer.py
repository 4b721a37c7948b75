"""Traces the values of a stored conversation's calls, with no model and no judge.

This is the evidence that the embedded judge weighs. It depends on the messages alone, so it is the
same whichever judge decided.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import assert_never

from taskshield.core.decisions import Case
from taskshield.core.levels import Level
from taskshield.core.provenance import TextLocation, TracedValue
from taskshield.judges.embedded.evidence.argument_values import ArgumentValue, argument_values
from taskshield.judges.embedded.evidence.conversation_index import ConversationIndex
from taskshield.judges.embedded.evidence.directives import Directive
from taskshield.judges.embedded.evidence.provenance import provenance

_MAX_VALUES = 100
"""Values of one message that are traced."""
_MAX_LENGTH = 100_000
"""Characters of a message that are searched."""


@dataclass(slots=True)
class EmbeddedValueTracer:
    """One conversation as the embedded judge indexes it."""

    _index: ConversationIndex = field(default_factory=ConversationIndex)
    _texts: dict[int, str] = field(default_factory=dict)

    def add(self, case: Case) -> None:
        """Read the next message."""
        text = case.message.text[:_MAX_LENGTH]
        self._texts[case.index] = text
        match case.message.level:
            case Level.SYSTEM:
                pass
            case Level.USER:
                self._index.add_user(case.index, text)
            case Level.ASSISTANT:
                self._index.add_assistant(case.index, text, ())
            case Level.TOOL:
                self._index.add_output(case.index, text)
            case _ as unreachable:
                assert_never(unreachable)

    def trace(self, case: Case) -> tuple[TracedValue, ...]:
        """Read the next message and say where the values of its calls come from."""
        traced = tuple(self._traced(case))[:_MAX_VALUES]
        self.add(case)
        return traced

    def _traced(self, case: Case) -> Iterator[TracedValue]:
        calls = case.message.tool_calls
        if not calls:
            return
        injected = self._index.around(_directives(case))
        for call in calls:
            for value in argument_values(call)[:_MAX_VALUES]:
                if value.trivial:  # such values are everywhere: their places say nothing
                    continue
                found = provenance(value, self._index.sources, injected.__contains__)
                yield TracedValue(
                    call_id=call.id,
                    path=value.path,
                    value=value.text,
                    origin=found.kind,
                    places=tuple(self._narrowed(place, value) for place in found.places),
                )

    def _narrowed(self, place: TextLocation, value: ArgumentValue) -> TextLocation:
        """The value itself where the text has it literally, otherwise the whole segment."""
        text = self._texts[place.message]
        start = text.find(value.text, place.start, place.end)
        return place if start < 0 else replace(place, start=start, end=start + len(value.text))


def _directives(case: Case) -> list[Directive]:
    return [
        Directive(message=one.instruction.origin.message, text=one.instruction.text, id=one.id)
        for one in case.tainted
    ]
