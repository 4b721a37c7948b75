"""What a judge sees of a session for one message. Pure."""

import re
from collections.abc import Mapping
from types import MappingProxyType

from taskshield.core.instructions import TaintedDirective
from taskshield.core.judge import SessionView
from taskshield.core.levels import Level
from taskshield.core.messages import ContextKind, HostMessage, Message, ToolCall
from taskshield.core.policy import Policy
from taskshield.core.session_state import SessionState
from taskshield.core.tools import Tier
from taskshield.engine.definition_values import tools_naming_values

_TAINTED_SHOWN = 20
"""Tainted directives that a judge sees for one message: those most like it."""
_COMPARED = 20_000
"""Characters of a text that are compared with tainted directives."""

_TRUSTED: Mapping[ContextKind, Level] = {
    "project_file": Level.SYSTEM,
    "system_message": Level.SYSTEM,
    "text_beside_result": Level.USER,
}
"""The level of a host's text that policy trusts."""


def with_trust(message: Message, policy: Policy) -> Message:
    """The message with the level that its text has under this policy."""
    if not isinstance(message, HostMessage):
        return message
    trusted = message.context in policy.trusted_context
    return message.as_message(_TRUSTED[message.context] if trusted else message.level)


def view(
    state: SessionState,
    message: Message,
    policy: Policy,
    tiers: Mapping[str, Tier] = MappingProxyType({}),
) -> SessionView:
    """What a judge sees for this message.

    For a user message that is only what the user said before, and the system message if its
    objectives are not read yet. No text of the agent or its tools is in it, so none can become a
    task.
    """
    if message.level is Level.SYSTEM:
        return SessionView()
    from_user = tuple(turn for turn in state.history if turn.message.level is Level.USER)
    if message.level is Level.USER:
        system = state.system if has_unread_system(state, policy) else ""
        return SessionView(tasks=state.tasks, history=from_user, unread_system=system)
    answered = answered_call(state, message)
    names = [call.name for call in message.tool_calls]
    if answered is not None:
        names.append(answered.name)
    return SessionView(
        tasks=state.tasks,
        objectives=state.objectives,
        tainted=_most_similar(state.tainted, message),
        history=state.history,
        tools={name: state.tools[name] for name in names if name in state.tools},
        tiers=tiers,
        tools_naming_values=tools_naming_values(
            state.tools.values(), message.tool_calls, (turn.message.text for turn in from_user)
        ),
        answered=answered,
    )


def has_unread_system(state: SessionState, policy: Policy) -> bool:
    """Whether there is a system message whose objectives count and are not read yet."""
    counts = policy.objectives != "off" and bool(state.system.strip())
    return counts and not state.objectives_known


def answered_call(state: SessionState, message: Message) -> ToolCall | None:
    """The call whose output this message is, if the session knows it."""
    return None if message.answers is None else state.open_calls.get(message.answers)


def _most_similar(
    tainted: tuple[TaintedDirective, ...], message: Message
) -> tuple[TaintedDirective, ...]:
    """The tainted directives that share most words with the message; of equals the newer ones."""
    if len(tainted) <= _TAINTED_SHOWN:
        return tainted
    words = _words(message.text, *(call.arguments for call in message.tool_calls))
    shared = {item.id: len(words & _words(item.instruction.text)) for item in tainted}
    newest_first = reversed(tainted)
    return tuple(sorted(newest_first, key=lambda item: -shared[item.id])[:_TAINTED_SHOWN])


def _words(*texts: str) -> set[str]:
    """The words in the first characters of each text."""
    return {word for text in texts for word in re.findall(r"\w+", text[:_COMPARED].casefold())}
