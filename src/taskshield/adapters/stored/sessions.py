"""Sessions in stored documents.

A store of format 1 has one text for a session: `OldSession`. From format 2 on it has a small
head, and a document for each part of what grows: turns, tools, tasks, tainted directives,
ids of decisions and system texts.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from taskshield.adapters.stored.cases import USAGE
from taskshield.adapters.stored.containers import Listed, MapOf, SetOf
from taskshield.adapters.stored.conversations import (
    HISTORY_ENTRY,
    OBJECTIVE,
    TAINTED,
    TASK,
    TASK_SET,
    TOOL_CALL,
    TOOL_SPEC,
)
from taskshield.adapters.stored.documents import Document
from taskshield.adapters.stored.records import Member, Record
from taskshield.adapters.stored.shapes import FLAG, TEXT, WHOLE
from taskshield.core.instructions import Objective, TaintedDirective, Task
from taskshield.core.judge import HistoryEntry
from taskshield.core.session_state import Counters, SessionState
from taskshield.core.tools import ToolSpec
from taskshield.core.usage import NO_USAGE

_COUNTERS = Record(
    Counters,
    Member("executed", WHOLE, default=0),
    Member("skipped", WHOLE, default=0),
    Member("failed", WHOLE, default=0),
)

STATE_RECORD = Record(
    SessionState,
    Member("id", TEXT),
    Member("system", TEXT),
    Member("tools", MapOf(TOOL_SPEC)),
    Member("messages", WHOLE),
    Member("tasks", TASK_SET),
    Member("objectives", Listed(OBJECTIVE)),
    Member("objectives_known", FLAG, default=False),
    Member("tainted", Listed(TAINTED)),
    Member("tainted_seen", WHOLE),
    Member("history", Listed(HISTORY_ENTRY)),
    Member("open_calls", MapOf(TOOL_CALL)),
    Member("turn_began", WHOLE),
    Member("rounds_used", WHOLE),
    Member("refused", SetOf(TEXT)),
    Member("approved", SetOf(TEXT), default=frozenset()),
    Member("counters", _COUNTERS, default=Counters()),
    Member("usage", USAGE, default=NO_USAGE),
)
"""What makes the guard weaker when it is lost has no default: tasks, directives, refusals, limits.
Objectives that are not known are read again, and a lost approval asks the person again."""

STATE: Document[SessionState] = Document(name="SessionState", record=STATE_RECORD)
"""A session of the library, whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRest:
    """All of a session of the server but its history and tools."""

    state: SessionState
    names: tuple[str, ...] = ()
    decision_ids: tuple[str, ...] = ()
    approvable: Mapping[str, frozenset[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class OldSession:
    """A session of the server in format 1, whole."""

    rest: SessionRest
    history: tuple[HistoryEntry, ...]
    tools: tuple[ToolSpec, ...]


_NAMES = Member("names", Listed(TEXT), default=())

_REST_RECORD = Record(
    SessionRest,
    Member("state", STATE_RECORD),
    _NAMES,
    Member("line", Listed(TEXT), (), attribute="decision_ids", argument="decision_ids"),
    Member("held", MapOf(SetOf(TEXT)), {}, attribute="approvable", argument="approvable"),
)

REST: Document[SessionRest] = Document(name="session", record=_REST_RECORD)
"""A part of `OLD_SESSION`: it is written in three parts, and old ones of them are used again."""

OLD_SESSION: Document[OldSession] = Document(
    name="session",
    record=Record(
        OldSession,
        Member("rest", _REST_RECORD),
        Member("history", Listed(HISTORY_ENTRY)),
        Member("tools", Listed(TOOL_SPEC)),
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadContent:
    """A session of the server without what grows."""

    state: SessionState
    """Without what grows, which are parts: history, tools, tasks, objectives and so on."""
    names: tuple[str, ...] = ()
    """`StoredContent.names`."""
    approvable: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """`StoredContent.approvable`."""
    parts: Mapping[str, int] = field(default_factory=dict)
    """How many parts of each kind there are: a part that is lost must not go unnoticed."""
    unknown: Mapping[str, object] = field(default_factory=dict)
    """Members that a later release has written; they are written again."""


def _head(
    *,
    names: tuple[str, ...],
    approvable: Mapping[str, frozenset[str]],
    parts: Mapping[str, int],
    unknown: Mapping[str, object],
    **state: object,
) -> HeadContent:
    made: SessionState = SessionState(**state)  # type: ignore[arg-type]
    return HeadContent(state=made, names=names, approvable=approvable, parts=parts, unknown=unknown)


HEAD: Document[HeadContent] = Document(
    name="session",
    record=Record(
        _head,
        Member("id", TEXT, attribute="state.id"),
        Member("messages", WHOLE, attribute="state.messages"),
        Member("objectives_known", FLAG, False, attribute="state.objectives_known"),
        Member("tainted_seen", WHOLE, attribute="state.tainted_seen"),
        Member("open_calls", MapOf(TOOL_CALL), attribute="state.open_calls"),
        Member("turn_began", WHOLE, attribute="state.turn_began"),
        Member("rounds_used", WHOLE, attribute="state.rounds_used"),
        Member("refused", SetOf(TEXT), attribute="state.refused"),
        Member("approved", SetOf(TEXT), frozenset(), attribute="state.approved"),
        Member("counters", _COUNTERS, Counters(), attribute="state.counters"),
        Member("usage", USAGE, NO_USAGE, attribute="state.usage"),
        _NAMES,
        Member("approvable", MapOf(SetOf(TEXT)), {}),
        Member("parts", MapOf(WHOLE)),
        keeps_unknown_as="unknown",
    ),
)
"""Only from format 2 on."""

TURN: Document[HistoryEntry] = Document(name="turn", record=HISTORY_ENTRY)
TOOL: Document[ToolSpec] = Document(name="tool", record=TOOL_SPEC)
TASK_PART: Document[Task] = Document(name="task", record=TASK)
OBJECTIVE_PART: Document[Objective] = Document(name="objective", record=OBJECTIVE)
TAINTED_PART: Document[TaintedDirective] = Document(name="tainted directive", record=TAINTED)


@dataclass(frozen=True, slots=True)
class DecisionId:
    """The id of a decision on a message that the client sees."""

    id: str


@dataclass(frozen=True, slots=True)
class SystemText:
    """A system text that was added to a session."""

    system: str


DECISION_ID: Document[DecisionId] = Document(
    name="decision id", record=Record(DecisionId, Member("id", TEXT))
)
SYSTEM_TEXT: Document[SystemText] = Document(
    name="system text", record=Record(SystemText, Member("system", TEXT))
)
