"""Agent Hooks 0.1: plans what an event adds to a session, and remembers what was judged.

A host reports the same thing more than once. A call comes in the model's response and again before
it is made; the final text comes in the model's response and again as output; pre_model_call repeats
all messages. Each is judged once. A server keeps a `Memory` for each session, next to the session's
state:

    step = plan_step(event, memory)
    session.declare(*step.tools)
    decisions = [await session.add(message) for message in step.messages]
    verdict = step.answer or render(event, decisions[-1] if decisions else None)
    memory = remember(memory, event, decisions)
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

from taskshield.adapters.agent_hooks.events import (
    AgentShutdown,
    AgentStartup,
    Event,
    Input,
    Output,
    PostModelCall,
    PostToolCall,
    PreModelCall,
    PreToolCall,
)
from taskshield.adapters.agent_hooks.verdicts import ALLOW, Verdict, call_verdict, render
from taskshield.adapters.conversations.host_text import messages_by_author
from taskshield.core.decisions import Decision
from taskshield.core.levels import Level
from taskshield.core.messages import Message, ToolCall, digest
from taskshield.core.tools import ToolSpec

_CALLS_KEPT = 200
"""Calls remembered in a session. The oldest are dropped first; they would be judged again."""
_SYSTEM_KEPT = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenCall:
    """A call that was judged."""

    id: str
    """Under which the session knows it."""
    fingerprint: str
    verdict: Verdict
    unnamed: bool = False
    """Whether the host had no id for it yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """Calls and texts that were judged, so that they are not judged twice."""

    calls: Mapping[str, SeenCall] = field(default_factory=dict)
    """By the host's id."""
    system: tuple[str, ...] = ()
    """Digests of system messages that were added to the session."""
    said: str | None = None
    """Digest of the model's last text without calls."""
    said_verdict: Verdict = ALLOW


@dataclass(frozen=True, slots=True, kw_only=True)
class HookStep:
    """What an event adds to its session, or the verdict that is already known."""

    tools: tuple[ToolSpec, ...] = ()
    """Tools to declare to the session."""
    messages: tuple[Message, ...] = ()
    """Messages to add to the session. The decision on the last one gives the verdict."""
    answer: Verdict | None = None
    """The verdict, if it is already known."""


def plan_step(event: Event, memory: Memory) -> HookStep:
    """What this event adds to its session, given what was judged before."""
    payload = event.payload
    match payload:
        case AgentStartup():
            names = payload.tools_registered
            return HookStep(tools=(*(ToolSpec(name=name) for name in names), *event.tools))
        case PreModelCall():
            new = (each for each in payload.system if digest(each.text) not in memory.system)
            return HookStep(tools=event.tools, messages=tuple(new))
        case PreToolCall():
            seen = _seen(payload.call, memory)
            if seen is not None:
                return HookStep(tools=event.tools, answer=seen.verdict)
            call = Message(level=Level.ASSISTANT, tool_calls=(payload.call,))
            return HookStep(tools=event.tools, messages=(call,))
        case PostToolCall():
            seen = memory.calls.get(payload.call.id)
            answers = payload.call.id if seen is None else seen.id
            output = replace(payload.message, answers=answers)
            return HookStep(tools=event.tools, messages=(output,))
        case Output() if memory.said == digest(payload.message.text):
            return HookStep(tools=event.tools, answer=memory.said_verdict)
        case Input():
            own = messages_by_author((payload.message,))
            return HookStep(tools=event.tools, messages=own)
        case PostModelCall() | Output():
            return HookStep(tools=event.tools, messages=(payload.message,))
        case AgentShutdown():
            return HookStep()
        case _ as unreachable:
            assert_never(unreachable)


def remember(
    memory: Memory, event: Event, decisions: Sequence[Decision], approval: str | None = None
) -> Memory:
    """The memory after an event.

    Args:
        memory: The memory before the event.
        event: The event.
        decisions: The decisions on all messages of its step.
        approval: Id of the approval that the last decision waits for, if it waits for one.
    """
    payload = event.payload
    match payload:
        case Input(role="user"):
            # A user message can change the tasks, so every call is judged again.
            return replace(memory, calls={}, said=None)
        case PostToolCall():
            # The call is over: the next one with this id is another one.
            calls = {id: each for id, each in memory.calls.items() if id != payload.call.id}
            return replace(memory, calls=calls)
        case PreModelCall():
            new = (digest(each.text) for each in payload.system)
            system = dict.fromkeys((*memory.system, *new))
            return replace(memory, system=tuple(system)[-_SYSTEM_KEPT:])
        case PreToolCall():
            seen = _seen(payload.call, memory)
            if seen is None:
                verdict = call_verdict(decisions[-1], payload.call.id, approval)
                seen = SeenCall(
                    id=payload.call.id, fingerprint=payload.call.fingerprint(), verdict=verdict
                )
            rest = {id: each for id, each in memory.calls.items() if each.id != seen.id}
            return _with_calls(memory, rest, {payload.call.id: replace(seen, unnamed=False)})
        case PostModelCall() if payload.message.tool_calls:
            announced = {
                call.id: SeenCall(
                    id=call.id,
                    fingerprint=call.fingerprint(),
                    verdict=call_verdict(decisions[-1], call.id, approval),
                    unnamed=call.id in payload.unnamed,
                )
                for call in payload.message.tool_calls
            }
            return _with_calls(memory, memory.calls, announced)
        case PostModelCall():
            return replace(
                memory,
                said=digest(payload.message.text),
                said_verdict=render(event, decisions[-1], approval),
            )
        case _:
            return memory


def forget_calls(memory: Memory, fingerprints: frozenset[str]) -> Memory:
    """The memory without these calls. A person approved them, so they are judged again."""
    calls = {id: each for id, each in memory.calls.items() if each.fingerprint not in fingerprints}
    return replace(memory, calls=calls, said=None)


def _seen(call: ToolCall, memory: Memory) -> SeenCall | None:
    """The same call as it was judged before: name and arguments must be the same as well."""
    fingerprint = call.fingerprint()
    named = memory.calls.get(call.id)
    if named is not None and named.fingerprint == fingerprint:
        return named
    unnamed = (each for each in memory.calls.values() if each.unnamed)
    return next((each for each in unnamed if each.fingerprint == fingerprint), None)


def _with_calls(memory: Memory, old: Mapping[str, SeenCall], new: Mapping[str, SeenCall]) -> Memory:
    kept = [*((id, each) for id, each in old.items() if id not in new), *new.items()]
    return replace(memory, calls=dict(kept[-_CALLS_KEPT:]))
