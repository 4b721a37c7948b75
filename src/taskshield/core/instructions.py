"""Instructions, where they were found, and the goals that they must serve."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from taskshield.core.errors import PrivilegeError
from taskshield.core.levels import Level


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Characters `start` to `end` (exclusive) of a message's text."""

    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where an instruction was found."""

    message: int
    """Number of the message in its session, counted from 0."""
    span: Span | None = None
    """Where it is in the message's text; None for tool calls and for words not in the text."""
    call_id: str | None = None
    """The tool call that it is, or whose output it was found in."""
    tool: str | None = None
    arguments: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Instruction:
    """An actionable directive. Its level is that of its message, never what it claims to be."""

    text: str
    level: Level
    origin: Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """Authority that a task of the user hands to one source ("do what David's e-mail says")."""

    source: str
    """Whose directives may serve the task, in the user's words."""
    scope: str
    """What the source may decide. Directives beyond it are not covered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A goal of the user."""

    id: str
    instruction: Instruction
    grant: Grant | None = None

    def __post_init__(self) -> None:
        if self.instruction.level is not Level.USER:
            raise PrivilegeError("Only a user message can state a task of the user.")

    @property
    def text(self) -> str:
        """The task in words."""
        return self.instruction.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Objective:
    """A purpose that the system message states. Steps must serve it as well as a task."""

    id: str
    instruction: Instruction

    def __post_init__(self) -> None:
        if self.instruction.level is not Level.SYSTEM:
            raise PrivilegeError("Only a system message can state an objective.")

    @property
    def text(self) -> str:
        """The objective in words."""
        return self.instruction.text


@dataclass(frozen=True, slots=True, kw_only=True)
class TaintedDirective:
    """A misaligned directive from tool output, kept to recognise calls that obey it."""

    id: str
    instruction: Instruction


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSet:
    """All tasks of all user messages so far, in order. It only grows."""

    tasks: tuple[Task, ...] = ()

    def with_tasks(self, tasks: Iterable[Task]) -> "TaskSet":
        """This set with more tasks at its end."""
        return replace(self, tasks=(*self.tasks, *tasks))

    def __iter__(self) -> Iterator[Task]:
        return iter(self.tasks)

    def __len__(self) -> int:
        return len(self.tasks)
