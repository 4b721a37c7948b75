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
    """Something comes in from outside. What is external speaks with a tool's privilege."""

    role: Role
    message: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class PreModelCall:
    """The model is about to be asked. Of its messages only those of the system are new to us."""

    model: str
    system: tuple[Message, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PostModelCall:
    """The model has answered."""

    model: str
    message: Message
    unnamed: frozenset[str]
    """Ids that we made up for calls to which the host gave none."""
    finish_reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PreToolCall:
    """A tool is about to be called."""

    call: ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class PostToolCall:
    """A tool has answered."""

    call: ToolCall
    message: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """The agent's last word is about to go to its caller."""

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
    """Order in the session. Hosts give it out strictly increasing; concurrent ones may overtake
    each other on their way to us."""
    agent: Agent
    session: str
    tools: tuple[ToolSpec, ...]
    """Tools that the host told about at this point."""
    payload: Payload
    target: Field
    """What a transform would rewrite."""
