"""What the shield remembers of a thread, as JSON in the private state of its graph.

So it is saved, resumed, forked and deleted with the thread. A node that runs again, after an
interrupt say, starts from what was remembered before it; nothing is counted twice.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, NotRequired

from langchain.agents.middleware import AgentState
from langchain.agents.middleware.types import PrivateStateAttr, ResponseT
from langchain_core.messages import BaseMessage

from taskshield.adapters import stored_values
from taskshield.core.decisions import Case, Decision
from taskshield.engine.decide import decide
from taskshield.engine.state import SessionState, after

_THREAD = "taskshield"
_OUTCOMES = "taskshield_outcomes"

OURS = frozenset({_THREAD, _OUTCOMES})
"""Keys of a state that nobody else may write."""


def collected(kept: list[str], new: list[str] | None) -> list[str]:
    """The reducer for outcomes: new ones are added, None takes all away."""
    return [] if new is None else [*kept, *new]


class ShieldState(AgentState[ResponseT]):
    """An agent's state with what the shield remembers. Neither input nor output of the graph."""

    taskshield: NotRequired[Annotated[str, PrivateStateAttr]]
    """A `Thread` as JSON."""
    taskshield_outcomes: NotRequired[Annotated[list[str], PrivateStateAttr, collected]]
    """An `Outcome` as JSON for each tool call. Calls run side by side, so what became of them is
    collected here, and goes into the thread when all are done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thread:
    """All that is remembered of one thread."""

    session: SessionState
    seen: frozenset[str] = frozenset()
    """Ids of those messages of the thread that were taken in."""
    step: Case | None = None
    """On the model's last message, if it calls tools: says which of its calls may run."""

    def unseen(self, messages: Iterable[BaseMessage]) -> list[BaseMessage]:
        """The messages that are new."""
        return [message for message in messages if message.id not in self.seen]

    def verdicts(self) -> Decision | None:
        """The decision on the model's last message, if it calls tools."""
        return None if self.step is None else decide(self.step)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What was decided while one tool call was carried out."""

    seen: frozenset[str]
    """Ids of the messages that it gave."""
    cases: tuple[Case, ...]


def is_kept(state: object) -> bool:
    """Whether a thread is remembered in this state."""
    return isinstance(state, dict) and state.get(_THREAD) is not None


def loaded(state: Any) -> Thread | None:
    """The thread that is remembered in this state, with the outcomes of calls that are done.

    Raises:
        WireFormatError: Somebody else wrote there.
    """
    if not is_kept(state):
        return None
    thread = stored_values.load(Thread, state[_THREAD])
    session, seen = thread.session, thread.seen
    for text in _outcomes(state):
        outcome = stored_values.load(Outcome, text)
        seen |= outcome.seen
        for case in outcome.cases:  # decided side by side; here one comes after the other
            decision = decide(replace(case, index=session.messages))
            session = after(replace(session, messages=session.messages + 1), decision)
    return replace(thread, session=session, seen=seen)


def is_up_to_date(state: Any, thread: Thread) -> bool:
    """Whether there is nothing in this state that the thread would learn from."""
    return not _outcomes(state) and not thread.unseen(state["messages"])


def update(thread: Thread) -> dict[str, Any]:
    """The update of a state that remembers the thread. Outcomes are part of it by now."""
    return {_THREAD: stored_values.dump(thread), _OUTCOMES: None}


def update_by_call(messages: Iterable[BaseMessage], cases: tuple[Case, ...]) -> dict[str, Any]:
    """The update of a state after one tool call; those of parallel calls add up."""
    return {_OUTCOMES: [stored_values.dump(Outcome(seen=ids(messages), cases=cases))]}


def ids(messages: Iterable[BaseMessage]) -> frozenset[str]:
    """The ids of those messages that have one."""
    return frozenset(message.id for message in messages if message.id is not None)


def _outcomes(state: Any) -> Sequence[str]:
    outcomes: Sequence[str] = state.get(_OUTCOMES, ())
    return outcomes
