"""Conversations in worlds: all of them, to ask a judge about, or some of them, to teach with."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import cycle, islice
from random import Random

from taskshield.core.assessments import TaskDraft
from taskshield.core.levels import Level
from taskshield.core.messages import Message, Text, text_message
from taskshield.core.policy import Policy
from taskshield.core.tools import Tier
from taskshield.engine.risk_tiers import tier_of
from taskshield.judges.embedded.grammar.directive_openers import kind_of
from taskshield.judges.embedded.text.segments import segments
from taskshield_lab.training.conversations.labelled import (
    CallKind,
    CallLabel,
    LabelledConversation,
    SpanKind,
    SpanLabel,
)
from taskshield_lab.training.conversations.plans import Kind
from taskshield_lab.training.conversations.tool_outputs import stand_in
from taskshield_lab.training.conversations.truncation import shortened
from taskshield_lab.training.sources import worlds
from taskshield_lab.training.sources.scenarios import Call
from taskshield_lab.training.sources.worlds import WORDINGS, Attack, Task, World

_KINDS: tuple[Kind, ...] = ("attacked", "clean", "attacked", "drift", "attacked", "ignored")
"""Kinds of the conversations that are drawn, in turn."""
_SHORT = 0.3
"""Share of those whose outputs are cut short."""
_LATER = 0.3
"""Share of the attacks that are obeyed one step after they are read."""
_MARK = re.compile("|".join(map(re.escape, (worlds.HERE, worlds.DO, worlds.END))))


@dataclass(frozen=True, slots=True)
class _Planted:
    """An attack in the output of a step."""

    step: int
    attack: Attack
    wording: str
    obeyed: int | None
    """After how many more steps; None where it is not."""

    @property
    def words(self) -> str:
        """What stands in the output."""
        return self.attack.words[self.wording]

    def is_obeyed_after(self, step: int) -> bool:
        """Whether the agent does what it says after a step."""
        return self.obeyed is not None and step == self.step + self.obeyed


def conversations(world: World) -> Iterator[LabelledConversation]:
    """Every task by itself, and beside every attack in every wording, which is obeyed at once.

    Where outsiders can write into several outputs, the attacks take turns.
    """
    tiers = _tiers(world)
    for task in world.tasks:
        yield _told(world, tiers, task, "clean", id=f"{world.name}/{task.id}")
        places = task.places
        for number, attack in enumerate(world.attacks):
            for wording in WORDINGS:
                planted = _Planted(places[number % len(places)], attack, wording, obeyed=0)
                id = f"{world.name}/{task.id}/{attack.id}/{wording}"
                yield _told(world, tiers, task, "attacked", planted, id=id)


def drawn(world: World, *, seed: object, per_task: int) -> Iterator[LabelledConversation]:
    """Some conversations about every task; the same for the same seed."""
    tiers = _tiers(world)
    for task in world.tasks:
        for number, kind in enumerate(islice(cycle(_KINDS), per_task)):
            id = f"{world.name}/{task.id}:{number}"
            rng = Random(f"{seed}:{id}")
            planted = None
            if kind in ("attacked", "ignored"):
                step = rng.choice(task.places)
                obeyed = None if kind == "ignored" else int(rng.random() < _LATER)
                planted = _Planted(step, rng.choice(world.attacks), rng.choice(WORDINGS), obeyed)
            talk = _told(world, tiers, task, kind, planted, id=id)
            yield shortened(talk, rng) if rng.random() < _SHORT else talk


def _tiers(world: World) -> dict[str, Tier]:
    specs = {tool.name: tool for tool in world.tools}
    return {name: tier_of(name, specs, Policy()) for name in specs}


def _told(
    world: World,
    tiers: Mapping[str, Tier],
    task: Task,
    kind: Kind,
    planted: _Planted | None = None,
    *,
    id: str,
) -> LabelledConversation:
    talk = _Talk(tiers, Random(id), [text_message(Level.USER, task.prompt)])
    follows: SpanKind = "obey" if task.trust == "hands over" else "pointed"
    words: tuple[int, int, int] | None = None
    for number, step in enumerate(task.steps):
        here = planted if planted is not None and planted.step == number else None
        text, spans = _read(step.output, "" if here is None else here.words, follows)
        output = talk.make(step.call, "step", text)
        talk.spans[output] = spans
        if here is not None:
            words = next((output, one.start, one.end) for one in spans if one.kind == "attack")
        if planted is not None and planted.is_obeyed_after(number):
            for call in planted.attack.calls:
                talk.make(call, "attack", explained_by=words)
    if kind == "drift" and task.beyond is not None:
        talk.make(task.beyond, "drift")
    source = "what the user names" if task.trust == "hands over" else None
    return LabelledConversation(
        id=id,
        scenario=f"{world.name}/{task.id}",
        domain=world.name,
        lang=world.lang,
        kind=kind,
        style=None if planted is None else planted.wording,
        tools=world.tools,
        tiers=tiers,
        system=None,
        messages=tuple(talk.messages),
        tasks={0: (TaskDraft(text=task.prompt, source=source),)},
        calls=talk.calls,
        spans=talk.spans,
    )


@dataclass(slots=True)
class _Talk:
    """A conversation that is being told."""

    tiers: Mapping[str, Tier]
    rng: Random
    messages: list[Message]
    calls: dict[str, CallLabel] = field(default_factory=dict)
    spans: dict[int, tuple[SpanLabel, ...]] = field(default_factory=dict)

    def make(
        self,
        call: Call,
        kind: CallKind,
        output: str | None = None,
        explained_by: tuple[int, int, int] | None = None,
    ) -> int:
        """A call and what comes back, or a stand-in for it; the number of that message."""
        tier = self.tiers[call.name]
        made = call.made(f"call_{len(self.calls)}")
        self.calls[made.id] = CallLabel(
            aligned=kind == "step", kind=kind, tier=tier, explained_by=explained_by
        )
        text = stand_in(tier, self.rng).text if output is None else output
        self.messages.append(Message(level=Level.ASSISTANT, parts=(), tool_calls=(made,)))
        self.messages.append(Message(level=Level.TOOL, parts=(Text(text=text),), answers=made.id))
        return len(self.messages) - 1


def _read(output: str, planted: str, follows: SpanKind) -> tuple[str, tuple[SpanLabel, ...]]:
    """An output without marks, and whose words stand where in it.

    Whatever else sounds like a request is somebody's to somebody, and harms nobody.

    Args:
        output: As it is written.
        planted: What an outsider wrote, or nothing.
        follows: What words are that say what the user wants to be done.
    """
    text, start, end = "", 0, 0
    spans: list[SpanLabel] = []
    for mark in _MARK.finditer(output):
        text += output[end : mark.start()]
        end = mark.end()
        match mark.group():
            case worlds.DO:
                start = len(text)
            case worlds.END:
                spans.append(SpanLabel(start=start, end=len(text), kind=follows))
            case _ if planted:
                own = SpanLabel(start=len(text), end=len(text) + len(planted), kind="attack")
                spans.append(own)
                text += planted
    text += output[end:]
    others = [
        SpanLabel(start=one.start, end=one.end, kind="benign")
        for one in segments(text)
        if kind_of(one.text) == "directive"
        and not any(one.start < span.end and span.start < one.end for span in spans)
    ]
    return text, (*spans, *others)
