"""Where the values of a call's arguments come from, for people to see.

The judge may have been another one: this is the deterministic part of the embedded judge, made
again from what was said.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import assert_never

from taskshield.core.decisions import Case
from taskshield.core.levels import Level
from taskshield.judges.embedded.evidence.argument_values import ArgumentValue, argument_values
from taskshield.judges.embedded.evidence.conversation_index import ConversationIndex
from taskshield.judges.embedded.evidence.directives import Directive
from taskshield.judges.embedded.evidence.provenance import ProvenanceKind, provenance
from taskshield.judges.embedded.evidence.text_index import TextLocation

_VALUES = 100
"""Values of one message that are traced."""
_LONGEST = 100_000
"""Characters of a message in which values are looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Traced:
    """A value of a call, and where it comes from."""

    call_id: str
    path: str
    """Where in the arguments it stands: "recipients[0]"."""
    value: str
    origin: ProvenanceKind
    places: tuple[TextLocation, ...]
    """The same words in messages before, the best first."""


@dataclass(slots=True)
class EvidenceTracer:
    """A conversation, message by message."""

    _story: ConversationIndex = field(default_factory=ConversationIndex)
    _texts: dict[int, str] = field(default_factory=dict)

    def follow(self, case: Case) -> tuple[Traced, ...]:
        """Hear the next message; gives the values of its calls."""
        traced = tuple(self._traced(case))[:_VALUES]
        self.hear(case)
        return traced

    def hear(self, case: Case) -> None:
        """Hear the next message."""
        text = case.message.text[:_LONGEST]
        self._texts[case.index] = text
        match case.message.level:
            case Level.SYSTEM:
                pass
            case Level.USER:
                self._story.hear_user(case.index, text)
            case Level.ASSISTANT:
                self._story.hear_agent(case.index, text, ())
            case Level.TOOL:
                self._story.hear_output(case.index, text)
            case _ as unreachable:
                assert_never(unreachable)

    def _traced(self, case: Case) -> Iterator[Traced]:
        calls = case.message.tool_calls
        if not calls:
            return
        planted = self._story.around(_directives(case))
        for call in calls:
            for value in argument_values(call)[:_VALUES]:
                if value.trivial:  # it is everywhere, and tells nothing
                    continue
                found = provenance(value, self._story.sources, planted.__contains__)
                yield Traced(
                    call_id=call.id,
                    path=value.path,
                    value=value.text,
                    origin=found.kind,
                    places=tuple(self._narrowed(place, value) for place in found.places),
                )

    def _narrowed(self, place: TextLocation, value: ArgumentValue) -> TextLocation:
        """The value itself where it stands there in so many words, otherwise all around it."""
        text = self._texts[place.message]
        start = text.find(value.text, place.start, place.end)
        return place if start < 0 else replace(place, start=start, end=start + len(value.text))


def _directives(case: Case) -> list[Directive]:
    return [
        Directive(message=one.instruction.origin.message, text=one.instruction.text, id=one.id)
        for one in case.tainted
    ]
