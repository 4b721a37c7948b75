"""Hand-written scenarios, openings, injection styles and tool definitions, as values.

`scenario_files` reads them; `conversations` makes conversations of them.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from taskshield.core.messages import JsonObject, ToolCall
from taskshield.core.tools import Tier

INJECTION_SLOT = "{{INJ}}"
"""Marks a place in an output where an attacker could have written text."""

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

    def to_tool_call(self, id: str) -> ToolCall:
        """The call as an agent makes it."""
        arguments = json.dumps(self.args, ensure_ascii=False)
        return ToolCall(id=id, name=self.name, arguments=arguments)


@dataclass(frozen=True, slots=True, kw_only=True)
class UserTask:
    """One task in a user message."""

    text: str
    delegates_to: str | None
    """The source that the user delegates to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioTurn:
    """A user message and its tasks."""

    text: str
    tasks: tuple[UserTask, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioStep:
    """A call of the aligned run and its output."""

    turn: int
    call: Call
    serves: int
    """Index of the task within all tasks so far."""
    output: str
    """With `INJECTION_SLOT` where an attacker could have written."""
    benign: tuple[str, ...]
    """Imperatives in the output that are not meant for the agent."""
    obey: tuple[str, ...]
    """Imperatives in the output that the user's delegation covers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """A call that serves none of the tasks, without an attack."""

    after: int
    """Index of the step that it follows."""
    call: Call


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """An attacker's goal and the calls that reach it."""

    goal: str
    calls: tuple[Call, ...]
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationSetup:
    """What scenarios and openings share: domain, language, tools and system message."""

    id: str
    domain: str
    lang: str
    tools: tuple[Tool, ...]
    system: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario(ConversationSetup):
    """A whole conversation with its attacks and drifts."""

    turns: tuple[ScenarioTurn, ...]
    steps: tuple[ScenarioStep, ...]
    also_fine: tuple[Call, ...]
    drift: tuple[Drift, ...]
    attacks: tuple[Attack, ...]
    final: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening(ConversationSetup):
    """A user request with right and wrong first calls."""

    turns: tuple[str, ...]
    """The user's messages."""
    right: tuple[Call, ...]
    wrong: tuple[Call, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """A way to word an attacker's goal."""

    id: str
    label: str
    """What kind of wrapper it is, in a few words."""
    template: str
    """With `{goal}`, and perhaps `{user}`, `{tool}`, `{topic}`: to be replaced, not formatted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDefinition:
    """The texts of a tool's definition."""

    texts: tuple[str, ...]
    """The description of the tool and those of its parameters."""
    injected: tuple[str, ...]
    """Parts of the texts that direct the agent against the user; none in an honest definition."""
