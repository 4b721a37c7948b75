"""The shield's data about a thread, as JSON in the private state of its graph.

So it is saved, resumed, forked and deleted with the thread. A node that runs again, for example
after an interrupt, starts from the data before it; nothing is counted twice.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, NotRequired

from langchain.agents.middleware import AgentState
from langchain.agents.middleware.types import PrivateStateAttr, ResponseT
from langchain_core.messages import BaseMessage

from taskshield.adapters.stored.cases import CASE_RECORD
from taskshield.adapters.stored.containers import Listed, OrNothing, SetOf
from taskshield.adapters.stored.documents import Document
from taskshield.adapters.stored.records import Member, Record
from taskshield.adapters.stored.sessions import STATE_RECORD
from taskshield.adapters.stored.shapes import TEXT
from taskshield.core.decisions import Case, Decision
from taskshield.core.session_state import SessionState
from taskshield.engine.decide import decide
from taskshield.engine.state import after

_THREAD = "taskshield"
_OUTCOMES = "taskshield_outcomes"

PRIVATE_KEYS = frozenset({_THREAD, _OUTCOMES})
"""Keys of a state that only the shield may write."""


def add_outcomes(kept: list[str], new: list[str] | None) -> list[str]:
    """The reducer for outcomes: new ones are added, None removes all."""
    return [] if new is None else [*kept, *new]


class ShieldState(AgentState[ResponseT]):
    """An agent's state with the shield's data; the graph neither takes nor returns them."""

    taskshield: NotRequired[Annotated[str, PrivateStateAttr]]
    """A `Thread` as JSON."""
    taskshield_outcomes: NotRequired[Annotated[list[str], PrivateStateAttr, add_outcomes]]
    """An `Outcome` as JSON for each tool call. Calls run in parallel: their outcomes are collected
    here, and added to the thread when all are finished."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thread:
    """The shield's data about one thread."""

    session: SessionState
    seen: frozenset[str] = frozenset()
    """Ids of the messages of the thread that the session has."""
    step: Case | None = None
    """The check of the model's last message, if it calls tools: decides which calls may run."""

    def new_messages(self, messages: Iterable[BaseMessage]) -> list[BaseMessage]:
        """The messages that the session does not have yet."""
        return [message for message in messages if message.id not in self.seen]

    def verdicts(self) -> Decision | None:
        """The decision on the model's last message, if it calls tools."""
        return None if self.step is None else decide(self.step)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The decisions that were made while one tool call ran."""

    seen: frozenset[str]
    """Ids of the messages in its result."""
    cases: tuple[Case, ...]
    """The checks, in order."""


THREAD_DOCUMENT: Document[Thread] = Document(
    name="Thread",
    record=Record(
        Thread,
        Member("session", STATE_RECORD),
        Member("seen", SetOf(TEXT)),
        Member("step", OrNothing(CASE_RECORD)),
    ),
)

OUTCOME_DOCUMENT: Document[Outcome] = Document(
    name="Outcome",
    record=Record(Outcome, Member("seen", SetOf(TEXT)), Member("cases", Listed(CASE_RECORD))),
)


def has_thread(state: object) -> bool:
    """Whether this state has data about a thread."""
    return isinstance(state, dict) and state.get(_THREAD) is not None


def load(state: Any) -> Thread | None:
    """The thread in this state, including the outcomes of finished calls.

    Raises:
        WireFormatError: Another program changed the data.
    """
    if not has_thread(state):
        return None
    thread = THREAD_DOCUMENT.read(state[_THREAD])
    session, seen = thread.session, thread.seen
    for text in _outcomes(state):
        outcome = OUTCOME_DOCUMENT.read(text)
        seen |= outcome.seen
        for case in outcome.cases:  # decided in parallel; numbered one after the other here
            decision = decide(replace(case, index=session.messages))
            session = after(replace(session, messages=session.messages + 1), decision)
    return replace(thread, session=session, seen=seen)


def is_up_to_date(state: Any, thread: Thread) -> bool:
    """Whether the thread has everything in this state."""
    return not _outcomes(state) and not thread.new_messages(state["messages"])


def update(thread: Thread) -> dict[str, Any]:
    """The update that stores the thread, which includes all outcomes."""
    return {_THREAD: THREAD_DOCUMENT.write(thread), _OUTCOMES: None}


def update_by_call(messages: Iterable[BaseMessage], cases: tuple[Case, ...]) -> dict[str, Any]:
    """The update after one tool call; updates of parallel calls are combined."""
    return {_OUTCOMES: [OUTCOME_DOCUMENT.write(Outcome(seen=ids(messages), cases=cases))]}


def ids(messages: Iterable[BaseMessage]) -> frozenset[str]:
    """The ids of those messages that have one."""
    return frozenset(message.id for message in messages if message.id is not None)


def _outcomes(state: Any) -> Sequence[str]:
    outcomes: Sequence[str] = state.get(_OUTCOMES, ())
    return outcomes
