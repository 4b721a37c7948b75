"""What a wrapped server sends on its own, kept within limits: a flood of it is dropped.

The dispatcher of the SDK starts a task for each request and each notification that it reads, so
what is too much must not reach it. Answers always pass.
"""

import logging
from typing import Any, Self

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from taskshield.integrations.mcp.connections.wire import UnreadableMessageError

_log = logging.getLogger(__name__)

_MOST_OPEN = 32
"""Most requests of a server that are not answered yet."""
_NOTIFICATIONS = (200, 100.0)
"""Most notifications at once, and in a second in the long run."""
_REQUESTS = (50, 10.0)
"""The same for requests."""


class Budget:
    """Lets a number of things pass at once, and a number of them per second in the long run."""

    def __init__(self, burst: int, per_second: float) -> None:
        self._burst = burst
        self._per_second = per_second
        self._left = float(burst)
        self._counted = anyio.current_time()

    def allows(self) -> bool:
        """Whether one more may pass."""
        now = anyio.current_time()
        self._left = min(self._burst, self._left + (now - self._counted) * self._per_second)
        self._counted = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


class Incoming:
    """A stream of a server's messages without what is too much."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._notifications = Budget(*_NOTIFICATIONS)
        self._requests = Budget(*_REQUESTS)
        self._open = 0
        self._warned = False

    @property
    def last_context(self) -> Any:
        """The context of the sender of the last message, for the SDK."""
        return getattr(self._stream, "last_context", None)

    def answered(self) -> None:
        """Note that a request of the server was answered."""
        self._open = max(0, self._open - 1)

    async def receive(self) -> SessionMessage | Exception:
        """The next message.

        Raises:
            EndOfStream: There is none.
        """
        while True:
            item: SessionMessage | Exception = await self._stream.receive()
            if _is_answer_to_nothing(item):
                return UnreadableMessageError(answers=True)
            if isinstance(item, Exception) or self._passes(item.message):
                return item
            if not self._warned:
                self._warned = True
                _log.warning("the wrapped server sends more than a client can use; dropped some")

    async def aclose(self) -> None:
        """Close the stream."""
        await self._stream.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.aclose()

    def _passes(self, message: object) -> bool:
        if isinstance(message, JSONRPCNotification):
            return self._notifications.allows()
        if isinstance(message, JSONRPCRequest):
            if self._open >= _MOST_OPEN or not self._requests.allows():
                return False
            self._open += 1
        return True


def _is_answer_to_nothing(item: SessionMessage | Exception) -> bool:
    """Whether this is the error of a server that could not read a request."""
    message = None if isinstance(item, Exception) else item.message
    return isinstance(message, JSONRPCError) and message.id is None


class Outgoing:
    """A stream to a server that counts the answers to its requests."""

    def __init__(self, stream: Any, incoming: Incoming) -> None:
        self._stream = stream
        self._incoming = incoming

    async def send(self, item: SessionMessage, /) -> None:
        """Send a message."""
        try:
            await self._stream.send(item)
        finally:
            if isinstance(item.message, JSONRPCResponse | JSONRPCError):
                self._incoming.answered()

    async def aclose(self) -> None:
        """Close the stream."""
        await self._stream.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.aclose()
