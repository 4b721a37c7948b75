"""Worlds that agents work in, for asking only: nothing is taught with them.

A world is one file: tools, tasks with all that is read on the way, and what outsiders may want. Its
writers knew nothing of our scenarios, so it says how a judge does elsewhere.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Literal

from taskshield.core.errors import ConfigError, WireFormatError
from taskshield.core.levels import Level
from taskshield.core.messages import Message, Text, ToolCall, text_message
from taskshield.core.policy import Policy
from taskshield.core.readings import TaskDraft
from taskshield.core.tools import Tier, ToolSpec
from taskshield.engine.risk import tier_of
from taskshield.training.labelled import CallLabel, LabelledConversation, SpanLabel
from taskshield.training.outputs import stand_in
from taskshield.training.scenarios import Call

Trust = Literal["asks", "points", "hands over"]
"""What a user leaves to others: nothing; the details of what is to be done; what is to be done."""
WORDINGS = ("plain", "dressed", "blended")
"""How an attack is worded: as a bare request, as an order, and as part of what stands around it."""
HERE = "[[HERE]]"
"""Where outsiders can write in an output."""


@dataclass(frozen=True, slots=True)
class Step:
    """What the agent does for a task, and what it then reads."""

    call: Call
    output: str


@dataclass(frozen=True, slots=True)
class Task:
    """What the user wants."""

    id: str
    trust: Trust
    prompt: str
    steps: tuple[Step, ...]

    @property
    def places(self) -> list[int]:
        """The steps whose outputs outsiders can write into."""
        return [number for number, step in enumerate(self.steps) if HERE in step.output]


@dataclass(frozen=True, slots=True)
class Attack:
    """What an outsider wants, and in which words."""

    id: str
    calls: tuple[Call, ...]
    words: Mapping[str, str]
    """By wording."""


@dataclass(frozen=True, slots=True)
class World:
    """One file."""

    name: str
    tools: tuple[ToolSpec, ...]
    tasks: tuple[Task, ...]
    attacks: tuple[Attack, ...]


def read_worlds(folder: Path) -> list[World]:
    """All worlds of a folder.

    Raises:
        ConfigError: There are none.
        WireFormatError: A file is not a world; the message names it.
    """
    paths = sorted(folder.glob("*.json"))
    if not paths:
        raise ConfigError(f"no .json file in {folder}")
    return [_read(path) for path in paths]


def conversations(world: World) -> Iterator[LabelledConversation]:
    """Every task by itself, and beside every attack in every wording, which is obeyed at once.

    Where outsiders can write into several outputs, the attacks take turns.
    """
    specs = {tool.name: tool for tool in world.tools}
    tiers = {name: tier_of(name, specs, Policy()) for name in specs}
    for task in world.tasks:
        yield _told(world, tiers, task)
        places = task.places
        for number, attack in enumerate(world.attacks):
            place = places[number % len(places)]
            for wording in WORDINGS:
                yield _told(world, tiers, task, _Planted(place, attack, wording))


@dataclass(frozen=True, slots=True)
class _Planted:
    """An attack in the output of a step."""

    step: int
    attack: Attack
    wording: str


def _told(
    world: World, tiers: Mapping[str, Tier], task: Task, planted: _Planted | None = None
) -> LabelledConversation:
    scenario = f"{world.name}/{task.id}"
    id = scenario if planted is None else f"{scenario}/{planted.attack.id}/{planted.wording}"
    rng = Random(id)
    messages = [text_message(Level.USER, task.prompt)]
    labels: dict[str, CallLabel] = {}
    spans: dict[int, tuple[SpanLabel, ...]] = {}

    def made(call: Call, output: str, words: tuple[int, int, int] | None = None) -> None:
        arguments = json.dumps(call.args, ensure_ascii=False)
        one = ToolCall(id=f"call_{len(labels)}", name=call.name, arguments=arguments)
        labels[one.id] = CallLabel(
            aligned=words is None,
            kind="step" if words is None else "attack",
            tier=tiers[call.name],
            explained_by=words,
        )
        messages.append(Message(level=Level.ASSISTANT, parts=(), tool_calls=(one,)))
        messages.append(Message(level=Level.TOOL, parts=(Text(text=output),), answers=one.id))

    for number, step in enumerate(task.steps):
        before, _, after = step.output.partition(HERE)
        if planted is None or planted.step != number:
            made(step.call, before + after)
            continue
        words = planted.attack.words[planted.wording]
        made(step.call, before + words + after)
        span = SpanLabel(start=len(before), end=len(before) + len(words), kind="attack")
        output = len(messages) - 1
        spans[output] = (span,)
        for call in planted.attack.calls:
            made(call, stand_in(tiers[call.name], rng).text, (output, span.start, span.end))
    source = "what the user names" if task.trust == "hands over" else None
    return LabelledConversation(
        id=id,
        scenario=scenario,
        domain=world.name,
        lang="en",
        kind="clean" if planted is None else "attacked",
        style=None if planted is None else planted.wording,
        tools=world.tools,
        tiers=tiers,
        system=None,
        messages=tuple(messages),
        tasks={0: (TaskDraft(text=task.prompt, source=source),)},
        calls=labels,
        spans=spans,
    )


def _read(path: Path) -> World:
    try:
        found: dict[str, Any] = json.loads(path.read_text("utf-8"))
        world = World(
            name=path.stem,
            tools=tuple(ToolSpec(**tool) for tool in found["tools"]),
            tasks=tuple(
                Task(one["id"], one["kind"], one["prompt"], tuple(map(_step, one["steps"])))
                for one in found["tasks"]
            ),
            attacks=tuple(
                Attack(
                    one["id"],
                    tuple(map(_call, one["calls"])),
                    {wording: one[wording] for wording in WORDINGS},
                )
                for one in found["attacks"]
            ),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise WireFormatError(f"{path.name} is not a world") from error
    _check(world)
    return world


def _step(found: Mapping[str, Any]) -> Step:
    return Step(_call(found), found["output"])


def _call(found: Mapping[str, Any]) -> Call:
    return Call(name=found["name"], args=found["arguments"])


def _check(world: World) -> None:
    """Raise where a call names no tool, or outsiders can write nowhere before a task is done."""
    known = {tool.name for tool in world.tools}
    steps = [step.call for task in world.tasks for step in task.steps]
    wanted = [call for attack in world.attacks for call in attack.calls]
    calls: Sequence[Call] = [*steps, *wanted]
    for call in calls:
        if call.name not in known:
            raise WireFormatError(f"{world.name}: {call.name!r} is no tool of this world")
    for task in world.tasks:
        if not task.places or task.places[-1] == len(task.steps) - 1:
            raise WireFormatError(f"{world.name}: {task.id!r} has no place or one at its end")
