"""Builds conversations from traces: the recorded calls of models and tools, put in order.

A trace holds model calls, each with all earlier messages and the response, and tool runs. One
conversation appears in many model calls, each a little longer than the last. A model call therefore
continues the conversation whose messages it begins with, and only its other messages are new. A
call that begins with other messages starts another conversation: a sub-agent's, or a new one.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from taskshield.core.levels import Level
from taskshield.core.messages import Conversation, Message, ToolCall, digest
from taskshield.core.tools import ToolSpec

StepKind = Literal["model", "agent", "tool"]
"""What was recorded.

- model: a call of a model
- agent: a run of a whole agent; read only where no call of a model is there
- tool: a run of a tool: `given` is the call, `answered` its output
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceStep:
    """One thing that a tracer recorded, or a part of it."""

    kind: StepKind
    id: str
    """Of the span. Steps that share it are parts of one."""
    turn: str
    """Of the trace."""
    start: float
    """In seconds."""
    end: float
    given: tuple[Message, ...] = ()
    answered: tuple[Message, ...] = ()
    tools: tuple[ToolSpec, ...] = ()

    @property
    def messages(self) -> tuple[Message, ...]:
        """All that is in it."""
        return (*self.given, *self.answered)


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A step and the conversation that it belongs to."""

    group: str
    """Id of the conversation or, where none is recorded, of the trace."""
    named: bool
    """Whether the group is a conversation's own id, which later traces of it share."""
    step: TraceStep


def conversations(pieces: Iterable[Piece]) -> list[Conversation]:
    """The conversations in the steps of one group, in the order in which they began."""
    pieces = list(pieces)
    steps = _whole(piece.step for piece in pieces)
    said = [step for step in steps if step.messages]
    calls = [step for step in said if step.kind == "model"]
    threads: list[_Thread] = []
    for step in calls or [step for step in said if step.kind == "agent"]:
        _place(step, threads, named=any(piece.named for piece in pieces))
    for step in said:
        if step.kind == "tool":
            _fill_in(step, threads)
    specs = {spec.name: spec for step in steps for spec in step.tools}
    return [
        Conversation(messages=tuple(thread.messages), tools=tuple(specs.values()))
        for thread in threads
    ]


@dataclass(slots=True, kw_only=True)
class _Thread:
    """A conversation as far as it is known."""

    messages: list[Message] = field(default_factory=list)
    marks: list[str] = field(default_factory=list)
    """What each message says, whatever its ids."""
    times: list[float] = field(default_factory=list)
    """When each was said, at the latest."""
    turns: set[str] = field(default_factory=set)

    def add(self, messages: Iterable[Message], time: float) -> None:
        for message in messages:
            self.insert(len(self.messages), message, time)

    def insert(self, place: int, message: Message, time: float) -> None:
        self.messages.insert(place, message)
        self.marks.insert(place, _mark(message))
        self.times.insert(place, time)

    def asked(self, call: ToolCall) -> int | None:
        """Number of the message that holds the call, by its id or else by what it says."""
        wanted = call.fingerprint()
        same = None
        for number, message in enumerate(self.messages):
            for one in message.tool_calls:
                if one.id == call.id:
                    return number
                if one.fingerprint() == wanted and not self.is_answered(one.id):
                    same = number if same is None else same
        return same

    def is_answered(self, id: str) -> bool:
        return any(message.answers == id for message in self.messages)


def _whole(steps: Iterable[TraceStep]) -> list[TraceStep]:
    """The steps in order, with the parts of each put together."""
    whole: dict[tuple[str, str], TraceStep] = {}
    for step in sorted(steps, key=lambda step: step.start):
        key = (step.turn, step.id)
        known = whole.get(key)
        if known is None:
            whole[key] = step
            continue
        whole[key] = replace(
            known,
            end=max(known.end, step.end),
            given=_together(known.given, step.given),
            answered=_together(known.answered, step.answered),
            tools=(*known.tools, *step.tools),
        )
    return list(whole.values())


def _together(before: tuple[Message, ...], more: tuple[Message, ...]) -> tuple[Message, ...]:
    """Two parts of a step; some tracers write the same down twice, in a span and as an event."""
    return before if before == more else (*before, *more)


def _place(step: TraceStep, threads: list[_Thread], *, named: bool) -> None:
    """Add a model call to the conversation that it continues, or start another one."""
    marks = [_mark(message) for message in step.messages]
    if any(thread.marks[: len(marks)] == marks for thread in threads):
        return  # said before
    before = [thread for thread in threads if marks[: len(thread.marks)] == thread.marks]
    thread = max(before, key=lambda thread: len(thread.marks), default=None)
    known = 0 if thread is None else len(thread.marks)
    if thread is None:
        thread, known = _continued(step, marks, threads, named)
    if thread is None:
        thread = _Thread()
        threads.append(thread)
    thread.turns.add(step.turn)
    thread.add(step.given[known:], step.start)
    thread.add(step.answered[max(0, known - len(step.given)) :], step.end)


def _continued(
    step: TraceStep, marks: Sequence[str], threads: Sequence[_Thread], named: bool
) -> tuple[_Thread | None, int]:
    """For a call that holds only what is new: where it goes on, and how much of it is known.

    That is the conversation with the call that its first message answers, or the named one itself
    where another trace has nothing in common with it: the next turn of the user.
    """
    opening = sum(message.level is Level.SYSTEM for message in step.messages)
    first = step.messages[opening] if opening < len(step.messages) else None
    if first is None:
        return None, 0
    for thread in threads:
        if first.level is Level.TOOL and any(
            call.id == first.answers for message in thread.messages for call in message.tool_calls
        ):
            return thread, opening
    main = threads[0] if threads else None
    if main is None or not named or step.turn in main.turns:
        return None, 0
    if first.level is Level.USER and marks[opening] not in main.marks:
        return main, opening
    return None, 0


def _fill_in(step: TraceStep, threads: list[_Thread]) -> None:
    """Add a tool run that no model call contains."""
    calls = [call for message in step.given for call in message.tool_calls]
    for call in calls:
        for thread in threads:
            number = thread.asked(call)
            if number is None:
                continue
            _answer(thread, number, call, step)
            return
    if threads:
        place = bisect_right(threads[0].times, step.start)
        for offset, message in enumerate(step.messages):
            threads[0].insert(place + offset, message, step.start)


def _answer(thread: _Thread, number: int, call: ToolCall, step: TraceStep) -> None:
    """Insert the output after its call and after outputs that are already there."""
    asked = thread.messages[number].tool_calls
    by_id = [one for one in asked if one.id == call.id]
    alike = [one for one in asked if one.fingerprint() == call.fingerprint()]
    own = (by_id or [one for one in alike if not thread.is_answered(one.id)])[0]
    if thread.is_answered(own.id):
        return
    place = number + 1
    while place < len(thread.messages) and thread.messages[place].level is Level.TOOL:
        place += 1
    for message in step.answered:
        thread.insert(place, replace(message, answers=own.id), thread.times[number])


def _mark(message: Message) -> str:
    """The same for a message as a model answered it and as it was sent back later."""
    calls = sorted(call.fingerprint() for call in message.tool_calls)
    return digest(message.level.value, " ".join(message.text.split()), *calls)
