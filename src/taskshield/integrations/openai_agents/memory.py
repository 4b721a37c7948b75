"""Conversations, which outlive a run.

The SDK keeps what was said, in a session of its own or in the hands of the caller. What the shield
made of it is remembered here for a while; where it is not, it is read anew.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from taskshield.adapters import stored_values
from taskshield.adapters.conversations import openai_responses
from taskshield.api.sessions import AsyncSession
from taskshield.api.shields import AsyncShield
from taskshield.core.levels import Level
from taskshield.core.messages import Message, digest, text_message
from taskshield.engine.state import SessionState

Messages = tuple[Message, ...]

_CONVERSATIONS_KEPT = 256


@dataclass(slots=True)
class Conversation:
    """A session of the shield, and the agents whose instructions it was told."""

    session: AsyncSession
    introduced: set[str] = field(default_factory=set)

    async def introduce(self, agent: str, instructions: str | None) -> None:
        """Tell the session what an agent is for; once, as instructions may change at any turn."""
        if instructions and agent not in self.introduced:
            self.introduced.add(agent)
            await self.session.add(text_message(Level.SYSTEM, instructions))


class Memory:
    """Conversations between two runs, by what was said in them.

    Two conversations may go on from the same words, so each takes its own copy. It holds nothing
    but what came of these words: instructions and tools may be other ones in the next run.
    """

    def __init__(self, shield: AsyncShield) -> None:
        self._shield = shield
        self._kept: OrderedDict[str, str] = OrderedDict()
        """Sessions as JSON."""

    def recall(self, said: Messages) -> tuple[Conversation, Messages]:
        """The conversation in which this was said, and what of it its session is still to read."""
        past = _past(said)
        kept = self._kept.pop(_name(past), None) if past else None
        if kept is None:
            return Conversation(self._shield.session()), said
        self._kept[_name(past)] = kept  # the newest now
        system = tuple(message for message in past if message.level is Level.SYSTEM)
        return Conversation(self._shield.from_json(kept)), (*system, *said[len(past) :])

    def keep(self, said: Messages, state: SessionState) -> None:
        """Remember a session until the user speaks again. It must have read this and no more."""
        bare = replace(state, system="", objectives=(), objectives_known=False, tools={})
        self._kept[_name(said)] = stored_values.dump(bare)
        while len(self._kept) > _CONVERSATIONS_KEPT:
            self._kept.popitem(last=False)


def messages_of(items: Sequence[object]) -> Messages:
    """Items of the SDK as messages."""
    return openai_responses.parse(list(items)).messages


def _past(said: Messages) -> Messages:
    """All but what the user said last."""
    others = (number for number, each in enumerate(said, 1) if each.level < Level.USER)
    return said[: max(others, default=0)]


def _name(said: Messages) -> str:
    return digest(*map(repr, said))
