"""Situations: what a user has said, the tools on offer, and calls that were asked for or not.

A conversation that a person labelled or recorded becomes one situation for each message of the
user after which the agent made calls. Calls that no one asked for are added: with one value
replaced, too early, of another task, or of a tool that the task does not need.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from taskshield.core.levels import Level
from taskshield.core.messages import Message, ToolCall
from taskshield.core.policy import Policy
from taskshield.core.tools import Tier, ToolSpec
from taskshield.engine.risk_tiers import tier_of
from taskshield.judges.embedded.evidence.argument_values import ArgumentValue, argument_values
from taskshield.judges.embedded.evidence.provenance import Owner, Sources, provenance
from taskshield.judges.embedded.text.segments import Segment
from taskshield_lab.training.authorisation import texts
from taskshield_lab.training.authorisation.value_swaps import OtherPeople, swapped_calls

_READ_CHARACTERS = 6_000
"""Characters of an output that values are traced to."""
_SWAPPED_ACTS, _SWAPPED_READS = 0.7, 0.12
"""Share of the right calls to which calls with a replaced value are added."""
_EARLY = 3
"""Calls of later turns, tried too early, of each situation."""
_UNUSED = 8
"""Tools that the task does not need, of each situation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A call or a bare tool, in the texts that the network reads."""

    tool: int
    """Number in the menu."""
    asked: bool
    weight: float
    kind: str
    """Where the call comes from: a step of the run, a replaced value, an attacker, and so on."""
    plain: str | None = None
    """The call; None where only the tool is meant."""
    marked: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """One moment of a conversation."""

    id: str
    source: str
    said: str
    menu: tuple[str, ...]
    """The tools on offer, as the network reads them."""
    acts: tuple[bool, ...]
    """Whether each has side effects."""
    rows: tuple[Row, ...]


@dataclass(slots=True, kw_only=True)
class Made:
    """A call that an agent made, or could have made, at one moment."""

    call: ToolCall
    asked: bool
    kind: str
    weight: float = 1.0


@dataclass(slots=True)
class Past:
    """What was said and read so far."""

    words: list[str] = field(default_factory=list)
    question: str = ""
    sources: Sources = field(default_factory=Sources)
    outputs: list[str] = field(default_factory=list)
    _count: int = 0
    _last: str = ""

    def add(self, message: Message) -> None:
        """Add a message."""
        text = message.text
        self._count += 1
        if message.level is Level.USER:
            self.question, self._last = self._last, ""
            self.words.append(text)
            self.sources.add_user(self._count, text)
        elif message.level is Level.TOOL:
            short = text[:_READ_CHARACTERS]
            self.outputs.append(short)
            self.sources.add_output(self._count, [Segment(0, len(short), short)])
        elif message.level is Level.ASSISTANT and text:
            self._last = text
            self.sources.add_assistant(self._count, text)

    def owner(self, value: ArgumentValue, values: int) -> Owner:
        """Whose a value is."""
        return provenance(value, self.sources, _nothing_injected, values).owner


class SituationBuilder:
    """Makes situations with one set of tools."""

    def __init__(
        self, source: str, tools: Iterable[ToolSpec], people: OtherPeople, rng: Random
    ) -> None:
        self._source = source
        self._people = people
        self._tools = {spec.name: spec for spec in tools}
        self._rng = rng
        self._numbers = {name: number for number, name in enumerate(self._tools)}
        self._acts = {
            name: tier_of(name, self._tools, Policy()) is not Tier.READ for name in self._tools
        }

    def acts(self, name: str) -> bool:
        """Whether a tool has side effects."""
        return self._acts.get(name, True)

    def situation(
        self,
        id: str,
        past: Past,
        rows: Sequence[Row],
        *,
        uncertain: Iterable[str] = (),
    ) -> Situation:
        """The situation after what was past, with tools that the task does not need.

        Args:
            id: Unique.
            past: What was said and read.
            rows: The calls, right and wrong.
            uncertain: Tools that the task may need or not.
        """
        names = list(self._tools)
        used = {names[row.tool] for row in rows if row.asked}
        right = {row.plain for row in rows if row.asked}
        rows = [row for row in rows if row.asked or row.plain not in right]
        return Situation(
            id=id,
            source=self._source,
            said=texts.said(past.words, past.question),
            menu=tuple(map(texts.tool, self._tools.values())),
            acts=tuple(self._acts.values()),
            rows=(*rows, *self._unused(used.union(uncertain))),
        )

    def rows(self, past: Past, made: Made, *, swaps: bool = True) -> Iterator[Row]:
        """A call, and calls with a replaced value where it is right. Nothing for unknown tools."""
        spec = self._tools.get(made.call.name)
        if spec is None:
            return
        yield self._row(past, spec, made)
        share = _SWAPPED_ACTS if self._acts[spec.name] else _SWAPPED_READS
        if swaps and made.asked and self._rng.random() < share:
            said = " ".join(past.words)
            found = swapped_calls(made.call, said, past.outputs, self._people, self._rng)
            for kind, call in found:
                wrong = Made(call=call, asked=False, kind=kind, weight=0.8)
                yield self._row(past, spec, wrong)

    def _row(self, past: Past, spec: ToolSpec, made: Made) -> Row:
        values = argument_values(made.call)
        return Row(
            tool=self._numbers[spec.name],
            asked=made.asked,
            weight=made.weight,
            kind=made.kind,
            plain=texts.plain_call(spec, values),
            marked=texts.marked_call(
                spec, [(value, past.owner(value, len(values))) for value in values[:9]]
            ),
        )

    def _unused(self, used: set[str]) -> list[Row]:
        """Tools that the task does not need, as far as anyone knows. Fewer of those that read."""
        found = [
            Row(
                tool=number,
                asked=False,
                weight=0.7 if self._acts[name] else 0.25,
                kind="unused tool",
            )
            for name, number in self._numbers.items()
            if name not in used
        ]
        self._rng.shuffle(found)
        found.sort(key=lambda row: -row.weight)
        return found[:_UNUSED]


def conversation_situations(
    id: str,
    messages: Sequence[Message],
    builder: SituationBuilder,
    labels: Mapping[str, Made],
    rng: Random,
) -> Iterator[Situation]:
    """The situations of a conversation, one for each message of the user that calls follow.

    Args:
        id: Unique.
        messages: All of them.
        builder: Knows the tools.
        labels: By id of the call; calls without a label are left out.
        rng: Chooses.
    """
    turns = _turns(messages)
    needed = [
        {call.name for message in turn for call in message.tool_calls if _right(labels, call)}
        for turn in turns
    ]
    past = Past()
    for number, turn in enumerate(turns):
        rows: list[Row] = []
        seen: set[tuple[str, str]] = set()
        for message in turn:
            for call in message.tool_calls:
                label = labels.get(call.id)
                if label is not None and (call.name, call.arguments) not in seen:
                    seen.add((call.name, call.arguments))
                    rows += builder.rows(past, label)
            past.add(message)
        later = set().union(*needed[number + 1 :]) - set().union(*needed[: number + 1])
        early = [
            call
            for other in turns[number + 1 :]
            for message in other
            for call in message.tool_calls
            if call.name in later and builder.acts(call.name) and _right(labels, call)
        ]
        if rows and past.words:
            for call in rng.sample(early, min(_EARLY, len(early))):
                made = Made(call=call, asked=False, kind="later", weight=0.6)
                rows += builder.rows(past, made)
            yield builder.situation(f"{id}/{number}", past, rows, uncertain=set().union(*needed))


def _turns(messages: Sequence[Message]) -> list[list[Message]]:
    """The messages, divided before each message of the user."""
    turns: list[list[Message]] = [[]]
    for message in messages:
        if message.level is Level.USER:
            turns.append([])
        turns[-1].append(message)
    return turns


def _right(labels: Mapping[str, Made], call: ToolCall) -> bool:
    label = labels.get(call.id)
    return label is not None and label.asked


def _nothing_injected(place: object) -> bool:
    return False
