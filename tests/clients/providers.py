"""The two providers, as values to parametrise over: what each client must do with each of them."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from taskshield.clients.anthropic import AnthropicClient
from taskshield.clients.openai import OpenAIClient
from taskshield.core.chat import ChatClient, ChatReply, ChatRequest, ChatTurn
from taskshield.core.errors import UpstreamError
from tests.clients.upstream import Upstream, anthropic_body, openai_body

KEY = "sk-secret-key-1234"
PROMPT = "the user's private question"
SCHEMA = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
REQUEST = ChatRequest(
    system="You are a judge.",
    turns=(
        ChatTurn(role="user", text=PROMPT),
        ChatTurn(role="assistant", text="not JSON"),
        ChatTurn(role="user", text="again, as JSON"),
    ),
    schema_name="verdict",
    schema=SCHEMA,
    max_tokens=256,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """One provider and the client that speaks its API."""

    name: str
    make: Callable[..., ChatClient]
    path: str
    """Where the client posts to."""
    base_path: str
    """What belongs to the base URL."""
    ok: Callable[[str], dict[str, Any]]
    """The body of a good answer with this text."""
    format_field: str
    """The request field that asks for structured output."""
    variable: str
    """The environment variable that holds the key."""

    def client(
        self, upstream: Upstream, *, timeout_s: float = 30.0, retries: int = 0
    ) -> ChatClient:
        """A client of this upstream."""
        return self.make(
            model="some-model",
            base_url=upstream.url + self.base_path,
            api_key=KEY,
            timeout_s=timeout_s,
            retries=retries,
        )


OPENAI = Provider(
    name="openai",
    make=OpenAIClient,
    path="/v1/chat/completions",
    base_path="/v1",
    ok=openai_body,
    format_field="response_format",
    variable="OPENAI_API_KEY",
)
ANTHROPIC = Provider(
    name="anthropic",
    make=AnthropicClient,
    path="/v1/messages",
    base_path="",
    ok=anthropic_body,
    format_field="output_config",
    variable="ANTHROPIC_API_KEY",
)

for_every_provider = pytest.mark.parametrize(
    "provider", [OPENAI, ANTHROPIC], ids=lambda provider: str(provider.name)
)


def ask(client: ChatClient, *requests: ChatRequest) -> list[ChatReply]:
    """Ask one after the other, by default `REQUEST` once, and close the client."""

    async def run() -> list[ChatReply]:
        try:
            return [await client.complete(request) for request in requests or (REQUEST,)]
        finally:
            await client.aclose()

    return asyncio.run(run())


def failure(client: ChatClient, request: ChatRequest = REQUEST) -> UpstreamError:
    """The error that the client raises when asked."""
    with pytest.raises(UpstreamError) as caught:
        ask(client, request)
    return caught.value
