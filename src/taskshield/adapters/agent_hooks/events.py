"""Events of Agent Hooks 0.1, as values: one class for each of the eight interception points."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from taskshield.adapters.parsing.json_reader import Field
from taskshield.core.messages import Message, ToolCall
from taskshield.core.tools import ToolSpec

Role = Literal["user", "system", "external"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """Which agent it is, and what runs it."""

    id: str
    framework: str
    name: str | None
    version: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentStartup:
    """A session begins."""

    tools_registered: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """Input from outside. External input has the privilege of a tool."""

    role: Role
    message: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class PreModelCall:
    """The model is about to be called. Only its system messages are new to a session."""

    model: str
    system: tuple[Message, ...]
    """Those that come after other messages are data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PostModelCall:
    """The model has responded."""

    model: str
    message: Message
    unnamed: frozenset[str]
    """Ids that were generated for calls without one."""
    finish_reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PreToolCall:
    """A tool is about to be called."""

    call: ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class PostToolCall:
    """A tool has returned its output."""

    call: ToolCall
    message: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """The agent's final answer is about to be returned."""

    message: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentShutdown:
    """A session ends."""

    reason: str


Payload: TypeAlias = (
    AgentStartup
    | Input
    | PreModelCall
    | PostModelCall
    | PreToolCall
    | PostToolCall
    | Output
    | AgentShutdown
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One emission of a host."""

    timestamp: datetime
    """In UTC."""
    sequence: int
    """Order in the session, strictly increasing. Concurrent events may arrive out of order."""
    agent: Agent
    session: str
    tools: tuple[ToolSpec, ...]
    """Tools that the host reports with this event."""
    payload: Payload
    target: Field
    """The part of the event that a transform rewrites."""
