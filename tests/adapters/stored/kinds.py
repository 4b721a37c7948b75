"""Every kind of stored document, with its example."""

from dataclasses import dataclass
from typing import Any

from taskshield.adapters.stored import sessions
from taskshield.adapters.stored.agent_hooks import MEMORY
from taskshield.adapters.stored.cases import CASE
from taskshield.adapters.stored.documents import Document
from taskshield.adapters.stored.sessions import HeadContent, OldSession, SessionRest
from taskshield.core import session_state
from taskshield.core.session_state import SessionState
from taskshield.integrations.langchain import thread_state
from taskshield.integrations.langchain.thread_state import Outcome, Thread
from taskshield.server.proxy.removed_calls import REMOVED_CALLS, RemovedCalls
from tests.adapters.stored import examples


@dataclass(frozen=True, slots=True)
class Example:
    """A kind of document and a value of it."""

    document: Document[Any]
    value: Any


STATE: SessionState = examples.state(session_state)
_NAMES: dict[str, Any] = {
    "names": ("name-1",),
    "approvable": {"approval-1": frozenset({"f2", "f1"})},
}
_BARE = SessionState(
    **{
        name: getattr(STATE, name)
        for name in SessionState.__slots__
        if name not in ("system", "objectives", "tools", "tasks", "tainted", "history")
    }
)
_REST = SessionState(
    **{
        name: getattr(STATE, name)
        for name in SessionState.__slots__
        if name not in ("tools", "history")
    }
)

ALL_FORMATS = {
    "case": Example(CASE, examples.CASE),
    "memory": Example(MEMORY, examples.MEMORY),
    "removed_calls": Example(
        REMOVED_CALLS,
        RemovedCalls(previous="response-1", refused=("c1",), results=(examples.SENT,)),
    ),
    "state": Example(sessions.STATE, STATE),
    "thread": Example(
        thread_state.THREAD_DOCUMENT,
        Thread(session=STATE, seen=frozenset({"m2", "m1"}), step=examples.CASE),
    ),
    "outcome": Example(
        thread_state.OUTCOME_DOCUMENT, Outcome(seen=frozenset({"m3"}), cases=(examples.CASE,))
    ),
}

ONLY_FORMAT_1 = {
    "session": Example(
        sessions.OLD_SESSION,
        OldSession(
            rest=SessionRest(state=_REST, decision_ids=("decision-1", "decision-2"), **_NAMES),
            history=STATE.history,
            tools=tuple(STATE.tools.values()),
        ),
    ),
}

FROM_FORMAT_2 = {
    "head": Example(
        sessions.HEAD, HeadContent(state=_BARE, parts={"turn": 2, "tool": 1, "task": 1}, **_NAMES)
    ),
    "turn": Example(sessions.TURN, examples.TURN),
    "tool": Example(sessions.TOOL, examples.TOOL),
    "task": Example(sessions.TASK_PART, examples.TASK),
    "objective": Example(sessions.OBJECTIVE_PART, examples.OBJECTIVE),
    "tainted": Example(sessions.TAINTED_PART, examples.TAINTED),
    "decision_id": Example(sessions.DECISION_ID, sessions.DecisionId("decision-1")),
    "system_text": Example(sessions.SYSTEM_TEXT, sessions.SystemText("You help with mail.")),
}

NEWEST_FORMAT = ALL_FORMATS | FROM_FORMAT_2
"""What this release writes where nothing else is asked for."""

BY_FORMAT = {1: ALL_FORMATS | ONLY_FORMAT_1, 2: NEWEST_FORMAT}
