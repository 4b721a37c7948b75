"""Conversations, which last longer than a run.

The SDK or the caller keeps the messages of a conversation. Here are the sessions that belong to
recent conversations; if a conversation is not here, its session reads the messages again.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from agents import ItemHelpers, TResponseInputItem
from cachetools import LRUCache
from openai.types.responses import ResponseFunctionToolCall

from taskshield.adapters.conversations import openai_responses, response_items
from taskshield.adapters.parsing.json_reader import filled
from taskshield.adapters.parsing.tool_output import text_parts
from taskshield.adapters.stored.sessions import STATE
from taskshield.api.sessions import AsyncSession
from taskshield.api.shields import AsyncShield
from taskshield.core.levels import Level
from taskshield.core.messages import Message, Text, digest, text_message
from taskshield.core.session_state import SessionState
from taskshield.engine.tool_functions import as_text

Messages = tuple[Message, ...]

_MOST_CONVERSATIONS = 256
_RUN_ELSEWHERE = response_items.PROVIDER_RUN | {"tool_search_call"}
"""Calls that never run in this process, so they cannot be blocked."""


@dataclass(slots=True)
class Conversation:
    """A session of the shield, and the agents whose instructions it has."""

    session: AsyncSession
    introduced: set[str] = field(default_factory=set)
    """Names of the agents."""

    async def introduce(self, agent: str, instructions: str | None) -> None:
        """Add an agent's instructions to the session; once, as they may differ at every turn."""
        if instructions and agent not in self.introduced:
            self.introduced.add(agent)
            await self.session.add(text_message(Level.SYSTEM, instructions))


class ConversationCache:
    """Sessions between two runs, found by the messages of their conversation.

    Two conversations can begin with the same messages, so each gets its own copy of the session.
    The copy has no instructions and tools: they may be different in the next run.
    """

    def __init__(self, shield: AsyncShield) -> None:
        self._shield = shield
        self._sessions: LRUCache[str, str] = LRUCache(_MOST_CONVERSATIONS)
        """Sessions as JSON."""

    def find(self, messages: Messages) -> tuple[Conversation, Messages]:
        """The conversation with these messages, and those that its session does not have yet."""
        past = _without_last_user_turn(messages)
        stored = self._sessions.get(_key(past)) if past else None
        if stored is None:
            return Conversation(self._shield.session()), messages
        system = tuple(message for message in past if message.level is Level.SYSTEM)
        return Conversation(self._shield.from_json(stored)), (*system, *messages[len(past) :])

    def store(self, messages: Messages, state: SessionState) -> None:
        """Store a session until the user speaks again. It must have exactly these messages."""
        bare = replace(state, system="", objectives=(), objectives_known=False, tools={})
        self._sessions[_key(messages)] = STATE.write(bare)


def messages_of(items: Sequence[object]) -> Messages:
    """Items of the SDK as messages."""
    return openai_responses.parse(list(items)).messages


def output_of(call: ResponseFunctionToolCall, output: object) -> Message:
    """What a tool returned, as the SDK writes it; where words in it are encoded, in the clear."""
    (message,) = messages_of([ItemHelpers.tool_call_output_item(call, output)])
    text = as_text(output)
    parts = tuple(text_parts(text))
    return message if parts == (Text(text=text),) else replace(message, parts=filled(parts))


def runs_here(item: TResponseInputItem) -> bool:
    """Whether the SDK would run this item in this process."""
    kind = item.get("type")
    return response_items.is_call(kind) and kind not in _RUN_ELSEWHERE


def _without_last_user_turn(messages: Messages) -> Messages:
    others = (number for number, each in enumerate(messages, 1) if each.level < Level.USER)
    return messages[: max(others, default=0)]


def _key(messages: Messages) -> str:
    return digest(*map(repr, messages))
