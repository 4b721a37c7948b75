"""The judge protocol and what a judge is shown."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from taskshield.core.assessments import Assessment, TaskAssessment
from taskshield.core.instructions import Objective, TaintedDirective, TaskSet
from taskshield.core.messages import Message, ToolCall
from taskshield.core.tools import Tier, ToolSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryEntry:
    """A message of the past and what became of its calls."""

    message: Message
    index: int = 0
    """Number of the message in its session."""
    refused: frozenset[str] = frozenset()
    """Ids of calls in it that were not let through."""
    answered: ToolCall | None = None
    """For tool output: the call that produced it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionView:
    """What a judge may see of a session for one message. Bounded, however long the session."""

    tasks: TaskSet = TaskSet()
    objectives: tuple[Objective, ...] = ()
    tainted: tuple[TaintedDirective, ...] = ()
    history: tuple[HistoryEntry, ...] = ()
    """The user's messages in full and recent other turns, up to `Policy.history_tokens`. A judge
    for whom that is too much takes a part of it with `core.window.recent`."""
    tools: Mapping[str, ToolSpec] = field(default_factory=dict)
    """Specs of the tools that the message calls or answers, by name."""
    tiers: Mapping[str, Tier] = field(default_factory=dict)
    """Risk tier of each of those tools."""
    tools_naming_values: tuple[ToolSpec, ...] = ()
    """Specs of all tools whose definitions name a value of the message's calls that the user did
    not name."""
    answered: ToolCall | None = None
    """For tool output: the call that produced it."""
    unread_system: str = ""
    """For a user message: the system message, where its objectives are to be read as well."""


class Judge(Protocol):
    """Reads instructions and says how well they serve the user's tasks.

    Raises `JudgeError` when it cannot; it never guesses.
    """

    @property
    def name(self) -> str:
        """Shown in every decision; the same name must mean the same behaviour."""
        ...

    async def tasks(self, message: Message, view: SessionView) -> TaskAssessment:
        """Read the tasks of a user message, the objectives of a system message, or both at once."""
        ...

    async def assess(self, message: Message, view: SessionView) -> Assessment:
        """Find the instructions of an assistant or tool message; score each for every target."""
        ...

    async def aclose(self) -> None:
        """Let go of connections. The judge is not used afterwards."""
        ...
