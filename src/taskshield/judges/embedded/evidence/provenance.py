"""Where a call's values come from: the user's words, data, a directive in data, or nowhere.

`Sources` grows with the conversation; finding a value takes time by the length of the value.
What that means for a call is decided elsewhere.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from taskshield.core import deadline
from taskshield.core.provenance import TextLocation, ValueOrigin
from taskshield.judges.embedded.evidence.argument_values import ArgumentValue
from taskshield.judges.embedded.evidence.text_index import (
    ENOUGH,
    Match,
    TextIndex,
    best_first,
)
from taskshield.judges.embedded.evidence.tokens import tokenize
from taskshield.judges.embedded.text.segments import Segment

SourceKind: TypeAlias = Literal["user", "pasted", "output", "disguised", "assistant"]
"""disguised: output in which words had to be found; it supports no value."""
Owner: TypeAlias = Literal["user", "data", "directive", "new"]
"""Whose a value is; new: the agent's own."""

_KINDS: tuple[SourceKind, ...] = ("user", "pasted", "output", "disguised", "assistant")
_OF_TOOLS: tuple[SourceKind, SourceKind] = ("output", "disguised")


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where one value comes from."""

    kind: ValueOrigin
    places: tuple[TextLocation, ...] = ()
    """Places of this kind, at most a few, the best first."""
    share: float = 0.0
    """How much of the value is found there: 1 for the whole of it."""
    also_directive: bool = False
    """Whether a directive in tool output has it too, where `kind` is "user" or "data"."""

    @property
    def owner(self) -> Owner:
        """Whose it is: what the agent said before is as much its own as what it says now."""
        return "new" if self.kind == "assistant" else self.kind


class Sources:
    """All text of a conversation so far, by who wrote it."""

    def __init__(self) -> None:
        self._streams: dict[SourceKind, TextIndex] = {kind: TextIndex() for kind in _KINDS}

    def add_user(self, message: int, own: str, length: int | None = None) -> None:
        """A user message: the user's own words, and how long all of it is if there are more."""
        self._add("user", message, Segment(0, len(own) if length is None else length, own))

    def add_pasted(self, message: int, segments: Iterable[Segment]) -> None:
        """The segments of what was pasted into a user message."""
        self._add_all("pasted", message, segments)

    def add_assistant(self, message: int, text: str) -> None:
        """What the agent said."""
        self._add("assistant", message, Segment(0, len(text), text))

    def add_output(self, message: int, segments: Iterable[Segment]) -> None:
        """The segments of a tool output."""
        segments = tuple(segments)
        plain, disguised = (
            [one for one in segments if one.disguised is odd] for odd in (False, True)
        )
        self._add_all("output", message, plain)
        self._add_all("disguised", message, disguised)

    def forget(self, message: int) -> None:
        """Drop what the agent or a tool said, the oldest first."""
        self._streams["assistant"].forget(message)
        self._streams["output"].forget(message)
        self._streams["disguised"].forget(message)

    def hit(self, kind: SourceKind, value: ArgumentValue, values: int = 1) -> Match:
        """How much of a value the text of one kind has, and where; one of so many values."""
        return self._streams[kind].hit(value, values)

    def sharing(self, words: Iterable[str]) -> list[tuple[TextLocation, float]]:
        """Places in the data that share words with these, and which part; the best first."""
        wanted = tuple(words)
        kinds: tuple[SourceKind, ...] = ("output", "disguised", "pasted")
        return best_first(place for kind in kinds for place in self._streams[kind].sharing(wanted))

    def _add_all(self, kind: SourceKind, message: int, segments: Iterable[Segment]) -> None:
        for number, segment in enumerate(segments):
            self._add(kind, message, segment, runs_on=number > 0)

    def _add(
        self, kind: SourceKind, message: int, segment: Segment, *, runs_on: bool = False
    ) -> None:
        deadline.check()
        place = TextLocation(message=message, start=segment.start, end=segment.end)
        self._streams[kind].add(tokenize(segment.text), place, runs_on=runs_on)


def provenance(
    value: ArgumentValue,
    sources: Sources,
    injected: Callable[[TextLocation], bool],
    values: int = 1,
) -> Provenance:
    """Where a value comes from; whole finds count before partial ones, the user before all.

    Args:
        value: The value.
        sources: What has been said so far.
        injected: Whether a place in tool output belongs to a directive.
        values: How many values the call has.
    """
    output, disguised = (sources.hit(kind, value, values) for kind in _OF_TOOLS)
    inside = tuple(place for place in output.places if injected(place))
    outside = tuple(place for place in output.places if place not in inside)
    hidden = tuple(place for place in disguised.places if injected(place))
    pasted = sources.hit("pasted", value, values)
    data = Match(output.share if outside else 0.0, outside)
    hits: dict[ValueOrigin, Match] = {
        "user": sources.hit("user", value, values),
        "data": pasted if pasted.share > data.share else data,
        "directive": Match(
            max(output.share if inside else 0.0, disguised.share if hidden else 0.0),
            (*inside, *hidden),
        ),
        "assistant": sources.hit("assistant", value, values),
    }
    in_directive = hits["directive"].share >= ENOUGH
    for least in (1.0, ENOUGH):
        for kind, hit in hits.items():
            if hit.share >= least:
                return Provenance(
                    kind=kind,
                    places=hit.places,
                    share=hit.share,
                    also_directive=in_directive and kind in ("user", "data"),
                )
    return Provenance(kind="new", share=max(hit.share for hit in hits.values()))
