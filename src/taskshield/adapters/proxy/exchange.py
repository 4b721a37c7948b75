"""A request and its answer as a proxy reads them: values."""

from dataclasses import dataclass
from typing import Any, TypeAlias

from taskshield.core.messages import Conversation, Message

Body: TypeAlias = dict[str, Any]
"""A parsed JSON object. Never changed in place: changes are made in a copy."""

Place: TypeAlias = tuple[str | int, ...]
"""The path to a part of a body: keys and numbers from the outside in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request, read."""

    conversation: Conversation
    places: tuple[Place | None, ...]
    """One for each message: where a tool's output stands. None: no output, or one that cannot be
    rewritten in this format."""
    streams: bool
    """Whether the client wants a stream."""
    continues: str | None = None
    """The stored response or conversation that the request continues, by the provider's id."""
    provider_conversation: str | None = None
    """The conversation at the provider that the answer is added to, by the provider's id."""
    in_background: bool = False
    """Whether the client wants to ask for the answer later."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An answer, read."""

    id: str | None
    messages: tuple[Message, ...]
    """Messages of the assistant: one, or one for each choice where several were asked for."""
    can_be_continued: bool = False
    """Whether a request may name its id instead of repeating the conversation."""

    @property
    def resume_id(self) -> str | None:
        """The id by which a client can continue from it."""
        return self.id if self.can_be_continued else None
