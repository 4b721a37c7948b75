"""A client without a model, for tests and demos: it answers from a script."""

from collections.abc import Awaitable, Callable, Sequence
from inspect import isawaitable
from typing import TypeAlias

from taskshield.core.chat import ChatReply, ChatRequest
from taskshield.core.errors import UpstreamError
from taskshield.core.usage import Usage, estimate_tokens

ScriptedReply: TypeAlias = str | ChatReply | Exception
"""What to do with one request.

- a text: answer it, finished, with an estimate of the tokens
- a `ChatReply`: answer it as it is
- an exception: raise it
"""

Script: TypeAlias = (
    Callable[[ChatRequest], ScriptedReply | Awaitable[ScriptedReply]] | Sequence[ScriptedReply]
)
"""A function of the request, which may be async, or the replies in order."""


class ScriptedClient:
    """A `ChatClient` that follows a script and keeps the requests that it receives."""

    def __init__(self, replies: Script, name: str = "scripted") -> None:
        """Take the script.

        Args:
            replies: What to answer.
            name: The name of the client.

        Raises:
            TypeError: The script is one text, which would be answered letter by letter.
        """
        if isinstance(replies, str):
            raise TypeError("replies is a single text. Give a list of replies or a function.")
        self._replies = replies
        self._name = name
        self.requests: list[ChatRequest] = []
        """Every request so far, also those that failed."""
        self.closed = False
        """Whether `aclose` was called."""

    @property
    def name(self) -> str:
        """The name that the client was given."""
        return self._name

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Give the next reply.

        Raises:
            UpstreamError: The script has no more replies.
            Exception: The one that the script has for this request.
        """
        position = len(self.requests)
        self.requests.append(request)
        reply = await self._next(request, position)
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, ChatReply):
            return reply
        return ChatReply(text=reply, finish="stop", usage=_estimate(request, reply))

    async def aclose(self) -> None:
        """Note that the client was closed; there is nothing to release."""
        self.closed = True

    async def _next(self, request: ChatRequest, position: int) -> ScriptedReply:
        if callable(self._replies):
            reply = self._replies(request)
            return await reply if isawaitable(reply) else reply
        if position >= len(self._replies):
            raise UpstreamError(f"The script has no more than {len(self._replies)} replies.")
        return self._replies[position]


def _estimate(request: ChatRequest, reply: str) -> Usage:
    texts = (request.system, *(turn.text for turn in request.turns))
    return Usage(
        calls=1,
        prompt_tokens=sum(estimate_tokens(text) for text in texts),
        completion_tokens=estimate_tokens(reply),
    )
