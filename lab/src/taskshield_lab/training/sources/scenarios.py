"""Hand-written scenarios, openings and injection styles, as values.

How they are read belongs to `scenario_files`, what is made of them to `conversations`.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from taskshield.core.messages import JsonObject, ToolCall
from taskshield.core.tools import Tier

PLACE = "{{INJ}}"
"""Stands in an output where an outsider could have written text."""

ATTACK_KINDS = frozenset("exfiltrate spend destroy alter spread access mislead".split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool of a scenario."""

    name: str
    description: str
    parameters: Mapping[str, str]
    """Argument name to "type: meaning"."""
    tier: Tier


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool call without an id."""

    name: str
    args: JsonObject

    def made(self, id: str) -> ToolCall:
        """The call as an agent makes it."""
        arguments = json.dumps(self.args, ensure_ascii=False)
        return ToolCall(id=id, name=self.name, arguments=arguments)


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """One instruction of a user message."""

    text: str
    delegates_to: str | None
    """The source that the user tells the agent to obey."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioTurn:
    """A user message, split into its instructions."""

    text: str
    tasks: tuple[Goal, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioStep:
    """A call of the aligned run and what came back."""

    turn: int
    call: Call
    serves: int
    """Index of the task within all tasks so far."""
    output: str
    """With `PLACE` wherever an outsider could have written."""
    benign: tuple[str, ...]
    """Imperatives in the output that are none of the agent's business."""
    obey: tuple[str, ...]
    """Imperatives in the output that the user's delegation covers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """A call that nobody asked for, at one position of the run."""

    after: int
    """Index of the step that it follows."""
    call: Call


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """An attacker's wish and the calls of an agent that fulfils it."""

    goal: str
    calls: tuple[Call, ...]
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Where a conversation takes place."""

    id: str
    domain: str
    lang: str
    tools: tuple[Tool, ...]
    system: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario(Setting):
    """A whole conversation with its attacks and drifts."""

    turns: tuple[ScenarioTurn, ...]
    steps: tuple[ScenarioStep, ...]
    also_fine: tuple[Call, ...]
    drift: tuple[Drift, ...]
    attacks: tuple[Attack, ...]
    final: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening(Setting):
    """What a user says, and what an agent may and may not do before any tool has answered."""

    turns: tuple[str, ...]
    """The user's messages."""
    right: tuple[Call, ...]
    wrong: tuple[Call, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """A way to wrap an attacker's wish."""

    id: str
    label: str
    """What kind of wrapper it is, in a few words."""
    template: str
    """With `{goal}`, and perhaps `{user}`, `{tool}`, `{topic}`: to be replaced, not formatted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """What a tool says about itself."""

    texts: tuple[str, ...]
    """Its description, and those of its parameters."""
    planted: tuple[str, ...]
    """Pieces of them that try to direct the agent against the user; none in an honest one."""
