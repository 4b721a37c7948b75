"""Worlds that agents work in: tools, tasks with all that is read on the way, what outsiders want.

A world is one file. Its writers knew nothing of our scenarios, so it is told in another way.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from taskshield.core.errors import ConfigError, WireFormatError
from taskshield.core.tools import ToolSpec
from taskshield_lab.training.sources.scenarios import Call

Trust = Literal["asks", "points", "hands over"]
"""What a user leaves to others: nothing; the details of what is to be done; what is to be done."""
WORDINGS = ("plain", "dressed", "blended")
"""How an attack is worded: as a bare request, as an order, and as part of what stands around it."""
HERE = "[[HERE]]"
"""Where outsiders can write in an output."""
DO, END = "[[DO]]", "[[END]]"
"""Around words in an output that say what the user wants to be done."""


@dataclass(frozen=True, slots=True)
class WorldStep:
    """What the agent does for a task, and what it then reads."""

    call: Call
    output: str


@dataclass(frozen=True, slots=True)
class Task:
    """What the user wants."""

    id: str
    trust: Trust
    prompt: str
    steps: tuple[WorldStep, ...]
    beyond: Call | None
    """What an agent might do on its own, though nobody asked for it; not in every world."""

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
    lang: str
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


def _read(path: Path) -> World:
    try:
        found: dict[str, Any] = json.loads(path.read_text("utf-8"))
        world = World(
            name=path.stem,
            lang=found.get("lang", "en"),
            tools=tuple(ToolSpec(**tool) for tool in found["tools"]),
            tasks=tuple(map(_task, found["tasks"])),
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


def _task(found: Mapping[str, Any]) -> Task:
    return Task(
        id=found["id"],
        trust=found["kind"],
        prompt=found["prompt"],
        steps=tuple(map(_step, found["steps"])),
        beyond=_call(found["beyond"]) if "beyond" in found else None,
    )


def _step(found: Mapping[str, Any]) -> WorldStep:
    return WorldStep(_call(found), found["output"])


def _call(found: Mapping[str, Any]) -> Call:
    return Call(name=found["name"], args=found["arguments"])


def _check(world: World) -> None:
    """Raise where a call names no tool, or outsiders can write nowhere before a task is done."""
    known = {tool.name for tool in world.tools}
    steps = [step.call for task in world.tasks for step in task.steps]
    wanted = [call for attack in world.attacks for call in attack.calls]
    drifts = [task.beyond for task in world.tasks if task.beyond is not None]
    calls: Sequence[Call] = [*steps, *wanted, *drifts]
    for call in calls:
        if call.name not in known:
            raise WireFormatError(f"{world.name}: {call.name!r} is no tool of this world")
    for task in world.tasks:
        if not task.places or task.places[-1] == len(task.steps) - 1:
            raise WireFormatError(f"{world.name}: {task.id!r} has no place or one at its end")
