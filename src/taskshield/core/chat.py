"""The chat-model protocol: all that a judge needs of a language model."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from taskshield.core.usage import Usage

FinishReason = Literal["stop", "length", "refusal", "other"]
"""Why the model stopped.

- stop: the answer is complete
- length: the answer was cut at the token limit
- refusal: the model or its provider declined to answer
- other: anything else
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatTurn:
    """One message to or from the model."""

    role: Literal["user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """One request to a model, made at temperature 0."""

    system: str
    """Fixed text, so that providers can cache it."""
    turns: tuple[ChatTurn, ...]
    schema_name: str
    schema: Mapping[str, object]
    """JSON schema of the answer. Enforced by endpoints that can; validated in any case."""
    max_tokens: int
    """Longest answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatReply:
    """The model's answer."""

    text: str
    finish: FinishReason
    usage: Usage


class ChatClient(Protocol):
    """A connection to one model. Raises `UpstreamError` when the endpoint fails."""

    @property
    def name(self) -> str:
        """Provider and model, e.g. "openai:gpt-4o-mini"."""
        ...

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Make one request; transport errors are retried with back-off."""
        ...

    async def aclose(self) -> None:
        """Close the connection pool."""
        ...
