"""The state of a session, as a value. `engine.state` changes it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from taskshield.core.instructions import Objective, TaintedDirective, TaskSet
from taskshield.core.judge import HistoryEntry
from taskshield.core.messages import ToolCall
from taskshield.core.tools import ToolSpec
from taskshield.core.usage import NO_USAGE, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Counters:
    """How many messages were checked, needed no check, or could not be checked."""

    executed: int = 0
    skipped: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionState:
    """All that a session knows. Its size is bounded, except for what the user says."""

    id: str
    system: str = ""
    """Text of the system message."""
    tools: Mapping[str, ToolSpec] = field(default_factory=dict)
    messages: int = 0
    """Number of messages so far."""
    tasks: TaskSet = TaskSet()
    objectives: tuple[Objective, ...] = ()
    objectives_known: bool = False
    """Whether the system message has been read for objectives."""
    tainted: tuple[TaintedDirective, ...] = ()
    tainted_seen: int = 0
    """Number of directives ever tainted; the ids are numbered with it."""
    history: tuple[HistoryEntry, ...] = ()
    open_calls: Mapping[str, ToolCall] = field(default_factory=dict)
    """Calls without an output yet, shortened, by id. They say where an output comes from."""
    turn_began: int = 0
    """Number of the user's last message."""
    rounds_used: int = 0
    """Feedback rounds used since the user last spoke."""
    refused: frozenset[str] = frozenset()
    """Fingerprints of calls and plans refused since the user last spoke."""
    approved: frozenset[str] = frozenset()
    """Fingerprints of calls and plans that a person approved since the user last spoke."""
    counters: Counters = Counters()
    usage: Usage = NO_USAGE
