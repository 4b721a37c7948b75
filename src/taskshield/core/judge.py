"""The judge protocol, and what a judge sees of a session."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from taskshield.core.assessments import Assessment, TaskAssessment
from taskshield.core.instructions import Objective, TaintedDirective, TaskSet
from taskshield.core.messages import Message, ToolCall
from taskshield.core.tools import Tier, ToolSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryEntry:
    """An earlier message and what became of its calls."""

    message: Message
    index: int = 0
    """Number of the message in its session."""
    refused: frozenset[str] = frozenset()
    """Ids of its calls that were not allowed."""
    answered: ToolCall | None = None
    """For tool output: the call that produced it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionView:
    """What a judge sees of a session for one message. Its size is bounded."""

    tasks: TaskSet = TaskSet()
    objectives: tuple[Objective, ...] = ()
    tainted: tuple[TaintedDirective, ...] = ()
    history: tuple[HistoryEntry, ...] = ()
    """The user's messages in full and recent others, up to `Policy.history_tokens`. A judge that
    wants less takes a part with `core.history.recent`."""
    tools: Mapping[str, ToolSpec] = field(default_factory=dict)
    """Specs of the tools that the message calls or answers, by name."""
    tiers: Mapping[str, Tier] = field(default_factory=dict)
    """Risk tier of each of those tools."""
    tools_naming_values: tuple[ToolSpec, ...] = ()
    """Specs of all tools whose definitions name a value of the message's calls that is not in the
    user's messages: their authors may have asked for the call."""
    answered: ToolCall | None = None
    """For tool output: the call that produced it."""
    unread_system: str = ""
    """For a user message: the system message, if its objectives are not read yet."""


class Judge(Protocol):
    """Finds instructions and scores how well they serve the user's tasks.

    Raises `JudgeError` when it has no verdict; it never guesses.
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
        """Close connections. The judge is not used afterwards."""
        ...
