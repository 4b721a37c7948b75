"""How decisions change the state of a session. Pure functions over frozen values."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import assert_never

from taskshield.core.assessments import TaskDraft
from taskshield.core.bounded_tasks import bounded
from taskshield.core.decisions import Decision
from taskshield.core.errors import ConversationError
from taskshield.core.history import AddTurn, remember, shorten_call
from taskshield.core.instructions import (
    Grant,
    Instruction,
    Objective,
    Origin,
    TaintedDirective,
    Task,
    TaskSet,
)
from taskshield.core.judge import HistoryEntry
from taskshield.core.levels import Level
from taskshield.core.messages import Message, ToolCall
from taskshield.core.policy import Policy
from taskshield.core.quotations import shorten
from taskshield.core.session_state import Counters, SessionState
from taskshield.engine.repeats.fingerprints import blocked_steps, refused_steps, used_approvals

_TAINTED_KEPT = 200
"""Tainted directives that a session remembers; the oldest are dropped first."""
_TAINTED_BYTES = 2_000
"""Longest text of a remembered tainted directive."""
_ORIGIN_TOKENS = 250
"""Longest arguments of a remembered call: they say where its output comes from."""
_OPEN_CALLS_KEPT = 200
"""Calls without an output that are remembered. Refused calls never get one, so the oldest are
dropped."""


def new_tasks(state: SessionState, drafts: Iterable[TaskDraft], index: int) -> TaskSet:
    """The task set after a user message. Nothing else adds to it."""
    numbers = (task.id.removeprefix("t") for task in state.tasks)
    last = max((int(number) for number in numbers if number.isdecimal()), default=0)
    return bounded(
        state.tasks.with_tasks(
            Task(
                id=f"t{number}",
                instruction=_instruction_of(draft, Level.USER, index),
                grant=_grant_of(draft),
            )
            for number, draft in enumerate(drafts, start=last + 1)
        )
    )


def with_objectives(
    state: SessionState, drafts: tuple[TaskDraft, ...], policy: Policy
) -> SessionState:
    """The state once the system message has been read."""
    if policy.objectives == "on" and not drafts:
        drafts = (TaskDraft(text=state.system),)
    objectives = tuple(
        Objective(id=f"o{number}", instruction=_instruction_of(draft, Level.SYSTEM, 0))
        for number, draft in enumerate(drafts, start=1)
    )
    return replace(state, objectives=objectives, objectives_known=True)


def with_system(state: SessionState, text: str) -> SessionState:
    """The state with one more system text. Its objectives have to be read again."""
    system = f"{state.system}\n\n{text}" if state.system else text
    return replace(state, system=system, objectives_known=False)


def with_approval(state: SessionState, decision: Decision) -> SessionState:
    """The state after a person approved what this decision blocked.

    Raises:
        ConversationError: The user has spoken since, and may have changed the request.
    """
    if decision.case.index < state.turn_began:
        raise ConversationError(
            "The user has spoken since this decision. It can no longer be approved."
        )
    return replace(state, approved=state.approved | blocked_steps(decision))


def after(state: SessionState, decision: Decision, add: AddTurn = remember) -> SessionState:
    """The state after a decision.

    Args:
        state: The state before it.
        decision: The decision.
        add: Adds a turn to the history.
    """
    case = decision.case
    message = case.message
    state = replace(
        state,
        counters=counted(state.counters, decision),
        usage=state.usage + case.trace.usage,
    )
    if message.level is not Level.SYSTEM:
        refused = frozenset(verdict.call.id for verdict in decision.calls if not verdict.allowed)
        turn = HistoryEntry(
            message=message, index=case.index, refused=refused, answered=case.answered
        )
        state = replace(state, history=add(state.history, turn, case.policy.history_tokens))
    match message.level:
        case Level.SYSTEM:
            return with_system(state, message.text)
        case Level.USER:
            return replace(
                state,
                tasks=case.tasks,
                turn_began=case.index,
                rounds_used=0,
                # "Go on" is no new task, and lets nothing pass that was blocked.
                refused=frozenset() if len(case.tasks) > len(state.tasks) else state.refused,
                approved=frozenset(),
            )
        case Level.ASSISTANT:
            return replace(
                state,
                open_calls=_with_open_calls(state.open_calls, message),
                rounds_used=state.rounds_used + (decision.round is not None),
                refused=state.refused | refused_steps(decision, user_words(state)),
                approved=state.approved - used_approvals(decision),
            )
        case Level.TOOL:
            return _after_output(state, decision)
        case _ as unreachable:
            assert_never(unreachable)


def user_words(state: SessionState) -> str:
    """All that the user has said."""
    turns = (turn.message for turn in state.history if turn.message.level is Level.USER)
    return "\n".join(message.text for message in turns)


def _with_open_calls(
    open_calls: Mapping[str, ToolCall], message: Message
) -> Mapping[str, ToolCall]:
    new = {call.id: shorten_call(call, _ORIGIN_TOKENS) for call in message.tool_calls}
    return dict([*open_calls.items(), *new.items()][-_OPEN_CALLS_KEPT:])


def _after_output(state: SessionState, decision: Decision) -> SessionState:
    tainted = tuple(
        TaintedDirective(id=f"d{number}", instruction=_shorten_instruction(finding.instruction))
        for number, finding in enumerate(decision.misaligned, start=state.tainted_seen + 1)
    )
    answers = decision.case.message.answers
    return replace(
        state,
        tainted=(*state.tainted, *tainted)[-_TAINTED_KEPT:],
        tainted_seen=state.tainted_seen + len(tainted),
        open_calls={id: call for id, call in state.open_calls.items() if id != answers},
    )


def _shorten_instruction(instruction: Instruction) -> Instruction:
    """Judges see it again with later messages, so it must be short."""
    text = shorten(instruction.text, _TAINTED_BYTES)
    return replace(instruction, text=text)


def counted(counters: Counters, decision: Decision) -> Counters:
    """The counters after one more decision."""
    match decision.check:
        case "executed":
            return replace(counters, executed=counters.executed + 1)
        case "skipped":
            return replace(counters, skipped=counters.skipped + 1)
        case "failed":
            return replace(counters, failed=counters.failed + 1)
        case _ as unreachable:
            assert_never(unreachable)


def _instruction_of(draft: TaskDraft, level: Level, index: int) -> Instruction:
    return Instruction(text=draft.text, level=level, origin=Origin(message=index, span=draft.span))


def _grant_of(draft: TaskDraft) -> Grant | None:
    if draft.source is None or not draft.source.strip():
        return None
    scope = draft.text if draft.scope is None or not draft.scope.strip() else draft.scope
    return Grant(source=draft.source, scope=scope)
