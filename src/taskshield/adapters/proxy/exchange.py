"""What a proxy sees of one request and its answer, as values."""

from dataclasses import dataclass
from typing import Any, TypeAlias

from taskshield.core.messages import Conversation, Message

Body: TypeAlias = dict[str, Any]
"""A JSON object as it was parsed. Never changed in place: what is changed is a copy."""

Place: TypeAlias = tuple[str | int, ...]
"""The way to a part of a body: keys and numbers from the outside in."""


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
    """The stored response or conversation that the request goes on from, by the provider's id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An answer, read."""

    id: str | None
    messages: tuple[Message, ...]
    """What the assistant says: one message, or one for each choice where several were asked for."""
