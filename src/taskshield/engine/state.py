"""The state of a session and how decisions change it. Pure functions over frozen values."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import assert_never

from taskshield.core.assessments import TaskDraft
from taskshield.core.decisions import LET_THROUGH, Decision
from taskshield.core.errors import ConversationError
from taskshield.core.history import remember, shorten_call
from taskshield.core.instructions import (
    Grant,
    Instruction,
    Objective,
    Origin,
    TaintedDirective,
    Task,
    TaskSet,
)
from taskshield.core.judge import HistoryEntry, SessionView
from taskshield.core.levels import Level
from taskshield.core.messages import Message, ToolCall, digest
from taskshield.core.policy import Policy
from taskshield.core.quotations import shorten
from taskshield.core.tools import Tier, ToolSpec
from taskshield.core.usage import NO_USAGE, Usage
from taskshield.engine.definition_values import tools_naming_values
from taskshield.engine.risk_tiers import tier_of

_TAINTED_KEPT = 200
"""Tainted directives remembered in a session; the oldest are forgotten first."""
_TAINTED_SHOWN = 20
"""Tainted directives shown to a judge for one message: those most like it."""

_TAINTED_BYTES = 2_000
"""Length of a tainted directive as it is remembered."""
_COMPARED = 20_000
"""Characters of a text that are compared with tainted directives."""
_ORIGIN_TOKENS = 250
"""Length of a call's arguments as they are remembered to say where its output comes from."""
_OPEN_CALLS_KEPT = 200
"""Calls that may wait for their output; refused ones wait for ever, so the oldest are forgotten."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counters:
    """How many messages were checked, needed no check, or should have been checked and were not."""

    executed: int = 0
    skipped: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionState:
    """All that a session knows. Bounded but for what the user says."""

    id: str
    system: str = ""
    """Text of the system message."""
    tools: Mapping[str, ToolSpec] = field(default_factory=dict)
    messages: int = 0
    """How many messages the session has seen."""
    tasks: TaskSet = TaskSet()
    objectives: tuple[Objective, ...] = ()
    objectives_known: bool = False
    """Whether the system message has been read for objectives."""
    tainted: tuple[TaintedDirective, ...] = ()
    tainted_seen: int = 0
    """How many directives were ever tainted; numbers their ids."""
    history: tuple[HistoryEntry, ...] = ()
    open_calls: Mapping[str, ToolCall] = field(default_factory=dict)
    """Calls without an output yet, by id; kept, shortened, to say where an output comes from."""
    turn_began: int = 0
    """Number of the message with which the user last spoke."""
    rounds_used: int = 0
    """Feedback rounds spent since the user last spoke."""
    refused: frozenset[str] = frozenset()
    """Fingerprints of what was refused since the user last spoke."""
    approved: frozenset[str] = frozenset()
    """Fingerprints of what a person approved since the user last spoke."""
    counters: Counters = Counters()
    usage: Usage = NO_USAGE


def view(state: SessionState, message: Message, policy: Policy) -> SessionView:
    """What a judge is shown for this message.

    For a user message that is only what the user said before, and the system message where its
    objectives are still to be read: tasks are read without sight of any text from the agent or its
    tools, so nothing of that can find its way into the task set.
    """
    if message.level is Level.SYSTEM:
        return SessionView()
    if message.level is Level.USER:
        history = tuple(turn for turn in state.history if turn.message.level is Level.USER)
        system = state.system if has_unread_system(state, policy) else ""
        return SessionView(tasks=state.tasks, history=history, unread_system=system)
    answered = answered_call(state, message)
    asked = (turn.message.text for turn in state.history if turn.message.level is Level.USER)
    names = [call.name for call in message.tool_calls]
    if answered is not None:
        names.append(answered.name)
    return SessionView(
        tasks=state.tasks,
        objectives=state.objectives,
        tainted=_like(state.tainted, message),
        history=state.history,
        tools={name: state.tools[name] for name in names if name in state.tools},
        tiers=tiers(state, message, policy),
        tools_naming_values=tools_naming_values(state.tools.values(), message.tool_calls, asked),
        answered=answered,
    )


def has_unread_system(state: SessionState, policy: Policy) -> bool:
    """Whether there is a system message whose objectives matter and are not known yet."""
    matters = policy.objectives != "off" and bool(state.system.strip())
    return matters and not state.objectives_known


def tiers(state: SessionState, message: Message, policy: Policy) -> Mapping[str, Tier]:
    """Risk tier of each tool that the message calls."""
    return {call.name: tier_of(call.name, state.tools, policy) for call in message.tool_calls}


def answered_call(state: SessionState, message: Message) -> ToolCall | None:
    """The call that this tool output answers, if the session knows it."""
    return None if message.answers is None else state.open_calls.get(message.answers)


def new_tasks(state: SessionState, drafts: Iterable[TaskDraft], index: int) -> TaskSet:
    """The task set after a user message. This is the only way it grows."""
    return state.tasks.with_tasks(
        Task(
            id=f"t{number}",
            instruction=_read(draft, Level.USER, index),
            grant=_grant(draft),
        )
        for number, draft in enumerate(drafts, start=len(state.tasks) + 1)
    )


def with_objectives(
    state: SessionState, drafts: tuple[TaskDraft, ...], policy: Policy
) -> SessionState:
    """The state once the system message has been read."""
    if policy.objectives == "on" and not drafts:
        drafts = (TaskDraft(text=state.system),)
    objectives = tuple(
        Objective(id=f"o{number}", instruction=_read(draft, Level.SYSTEM, 0))
        for number, draft in enumerate(drafts, start=1)
    )
    return replace(state, objectives=objectives, objectives_known=True)


def with_system(state: SessionState, text: str) -> SessionState:
    """The state with one more system text; objectives are to be read anew."""
    system = f"{state.system}\n\n{text}" if state.system else text
    return replace(state, system=system, objectives_known=False)


def with_approval(state: SessionState, decision: Decision) -> SessionState:
    """The state after a person approved what this decision held back.

    Raises:
        ConversationError: The user has spoken since, and may have said otherwise.
    """
    if decision.case.index < state.turn_began:
        raise ConversationError("the user has spoken since this decision; it cannot be approved")
    return replace(state, approved=state.approved | _held_back(decision))


def after(state: SessionState, decision: Decision) -> SessionState:
    """The state after a decision."""
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
        state = replace(state, history=remember(state.history, turn, case.policy.history_tokens))
    match message.level:
        case Level.SYSTEM:
            return with_system(state, message.text)
        case Level.USER:
            return replace(
                state,
                tasks=case.tasks,
                turn_began=case.index,
                rounds_used=0,
                refused=frozenset(),
                approved=frozenset(),
            )
        case Level.ASSISTANT:
            return replace(
                state,
                open_calls=_opened(state.open_calls, message),
                rounds_used=state.rounds_used + (decision.round is not None),
                refused=state.refused | _refused(decision),
                approved=state.approved - _used_approvals(decision),
            )
        case Level.TOOL:
            return _after_output(state, decision)
        case _ as unreachable:
            assert_never(unreachable)


def _opened(open_calls: Mapping[str, ToolCall], message: Message) -> Mapping[str, ToolCall]:
    new = {call.id: shorten_call(call, _ORIGIN_TOKENS) for call in message.tool_calls}
    return dict([*open_calls.items(), *new.items()][-_OPEN_CALLS_KEPT:])


def _after_output(state: SessionState, decision: Decision) -> SessionState:
    tainted = tuple(
        TaintedDirective(id=f"d{number}", instruction=_short_instruction(finding.instruction))
        for number, finding in enumerate(decision.misaligned, start=state.tainted_seen + 1)
    )
    answers = decision.case.message.answers
    return replace(
        state,
        tainted=(*state.tainted, *tainted)[-_TAINTED_KEPT:],
        tainted_seen=state.tainted_seen + len(tainted),
        open_calls={id: call for id, call in state.open_calls.items() if id != answers},
    )


def _short_instruction(instruction: Instruction) -> Instruction:
    """What is remembered is shown again with later messages, so it must be short."""
    text = shorten(instruction.text, _TAINTED_BYTES)
    return replace(instruction, text=text)


def instruction_fingerprint(instruction: Instruction) -> str:
    """Identifies a plan in the assistant's text, as a call's fingerprint identifies the call."""
    return digest("text", " ".join(instruction.text.split()).casefold())


def _held_back(decision: Decision) -> frozenset[str]:
    calls = (verdict.call.fingerprint() for verdict in decision.calls if not verdict.allowed)
    plans = (
        instruction_fingerprint(finding.instruction)
        for finding in decision.findings
        if finding.call_id is None and finding.action not in LET_THROUGH
    )
    return frozenset((*calls, *plans))


def _refused(decision: Decision) -> frozenset[str]:
    """What was refused for what it is; an outage says nothing about that."""
    return frozenset() if decision.check == "failed" else _held_back(decision)


def _used_approvals(decision: Decision) -> frozenset[str]:
    """Approvals that let something through; each does so once."""
    calls = (verdict.call.fingerprint() for verdict in decision.calls if verdict.allowed)
    plans = (
        instruction_fingerprint(finding.instruction)
        for finding in decision.findings
        if finding.call_id is None
    )
    return frozenset((*calls, *plans))


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


def _read(draft: TaskDraft, level: Level, index: int) -> Instruction:
    return Instruction(text=draft.text, level=level, origin=Origin(message=index, span=draft.span))


def _grant(draft: TaskDraft) -> Grant | None:
    if draft.source is None or not draft.source.strip():
        return None
    scope = draft.text if draft.scope is None or not draft.scope.strip() else draft.scope
    return Grant(source=draft.source, scope=scope)


def _like(tainted: tuple[TaintedDirective, ...], message: Message) -> tuple[TaintedDirective, ...]:
    """The tainted directives that share most words with the message; newer ones first on a tie."""
    if len(tainted) <= _TAINTED_SHOWN:
        return tainted
    said = _word_set(message.text, *(call.arguments for call in message.tool_calls))
    shared = {item.id: len(said & _word_set(item.instruction.text)) for item in tainted}
    newest_first = reversed(tainted)
    return tuple(sorted(newest_first, key=lambda item: -shared[item.id])[:_TAINTED_SHOWN])


def _word_set(*texts: str) -> set[str]:
    """The words of the beginnings of these texts."""
    return {word for text in texts for word in re.findall(r"\w+", text[:_COMPARED].casefold())}
