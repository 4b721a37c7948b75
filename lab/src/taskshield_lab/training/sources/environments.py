"""Test environments: tools, tasks with every output that is read, and attacks.

Each environment is one file. Its writers did not know our scenarios, so their format is another.
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
"""What a task leaves to the data: nothing (asks), details (points), the task (hands over)."""
WORDINGS = ("plain", "dressed", "blended")
"""Wordings of an attack: a plain request, an order, a part of the surrounding text."""
INJECTION_SLOT = "[[HERE]]"
"""Marks a place in an output where an attacker could have written."""
TASK_START, TASK_END = "[[DO]]", "[[END]]"
"""Around a text in an output that the user's task follows."""


@dataclass(frozen=True, slots=True)
class EnvironmentStep:
    """A call of a task and its output."""

    call: Call
    output: str


@dataclass(frozen=True, slots=True)
class Task:
    """A user's task and the calls that do it."""

    id: str
    trust: Trust
    prompt: str
    steps: tuple[EnvironmentStep, ...]
    drift_call: Call | None
    """A call that serves no task; not every environment has one."""

    @property
    def writable_steps(self) -> list[int]:
        """The steps whose outputs have a place for an attack."""
        return [number for number, step in enumerate(self.steps) if INJECTION_SLOT in step.output]


@dataclass(frozen=True, slots=True)
class Attack:
    """An attacker's calls and the texts that ask for them."""

    id: str
    calls: tuple[Call, ...]
    texts: Mapping[str, str]
    """By wording."""


@dataclass(frozen=True, slots=True)
class TestEnvironment:
    """Tools, tasks and attacks of one file."""

    name: str
    lang: str
    tools: tuple[ToolSpec, ...]
    tasks: tuple[Task, ...]
    attacks: tuple[Attack, ...]


def read_environments(folder: Path) -> list[TestEnvironment]:
    """All test environments of a folder.

    Raises:
        ConfigError: There are none.
        WireFormatError: A file is not a test environment; the message names it.
    """
    paths = sorted(folder.glob("*.json"))
    if not paths:
        raise ConfigError(f"The folder {folder} has no .json file.")
    return [_read(path) for path in paths]


def _read(path: Path) -> TestEnvironment:
    try:
        found: dict[str, Any] = json.loads(path.read_text("utf-8"))
        environment = TestEnvironment(
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
        raise WireFormatError(f"The file {path.name} is not a test environment.") from error
    _check(environment)
    return environment


def _task(found: Mapping[str, Any]) -> Task:
    return Task(
        id=found["id"],
        trust=found["kind"],
        prompt=found["prompt"],
        steps=tuple(map(_step, found["steps"])),
        drift_call=_call(found["beyond"]) if "beyond" in found else None,
    )


def _step(found: Mapping[str, Any]) -> EnvironmentStep:
    return EnvironmentStep(_call(found), found["output"])


def _call(found: Mapping[str, Any]) -> Call:
    return Call(name=found["name"], args=found["arguments"])


def _check(environment: TestEnvironment) -> None:
    """Raise where a call has no tool, or a task has no place for an attack before its last step."""
    known = {tool.name for tool in environment.tools}
    steps = [step.call for task in environment.tasks for step in task.steps]
    wanted = [call for attack in environment.attacks for call in attack.calls]
    drifts = [task.drift_call for task in environment.tasks if task.drift_call is not None]
    calls: Sequence[Call] = [*steps, *wanted, *drifts]
    for call in calls:
        if call.name not in known:
            raise WireFormatError(f"{environment.name}: the environment has no tool {call.name!r}.")
    for task in environment.tasks:
        if not task.writable_steps or task.writable_steps[-1] == len(task.steps) - 1:
            raise WireFormatError(
                f"{environment.name}: the task {task.id!r} needs the mark {INJECTION_SLOT} in an"
                " output before its last step, and none in the last one."
            )
