"""The chat-model protocol: what a judge needs of a language model, and no more."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from taskshield.core.usage import Usage

FinishReason = Literal["stop", "length", "refusal", "other"]
"""Why the model stopped.

- stop: it was done
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
    """One question to a model, asked at temperature 0."""

    system: str
    """Fixed text, so that providers can cache it."""
    turns: tuple[ChatTurn, ...]
    schema_name: str
    schema: Mapping[str, object]
    """JSON schema of the answer. Enforced where the endpoint can; validated anyway."""
    max_tokens: int
    """Limit of the answer's length."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatReply:
    """What the model answered."""

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
        """Ask once; transport errors are retried with back-off inside."""
        ...

    async def aclose(self) -> None:
        """Close the connection pool."""
        ...
