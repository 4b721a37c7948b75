"""The bodies of all open requests: the bytes that they take, and those that are not complete.

A body takes memory from its first byte until its request is answered; so does what a provider
answers to it. Where all of them together
take too much, another request is refused; where too many are not complete, the oldest of these is
ended, because it is slower than all others.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from taskshield.server.http.errors import RequestError
from taskshield.settings import LimitSettings

_RETRY_S = 1
SLOWEST = 32 * 1024
"""Bytes in a second that a body must arrive with, once `limits.body_s` are over."""


class OpenBodies:
    """The bodies of one server's open requests."""

    def __init__(self, limits: LimitSettings) -> None:
        self._limits = limits
        self._waiting: dict[asyncio.Timeout, None] = {}
        self.bytes = 0
        """Bytes of all open requests together, with the answers of providers to them."""
        self.answers = 0
        """Bytes of these answers."""

    @property
    def incomplete(self) -> int:
        """How many bodies are awaited."""
        return len(self._waiting)

    def hold(self, count: int) -> None:
        """Count bytes that have arrived.

        Raises:
            RequestError: All open requests together have too many.
        """
        if self.bytes + count > self._limits.open_bytes:
            raise RequestError(
                503,
                "busy",
                "The server holds as much of requests as it may. Try again later.",
                {"retry-after": str(_RETRY_S), "connection": "close"},
            )
        self.bytes += count

    def hold_answer(self, count: int) -> None:
        """Count bytes of a provider's answer.

        Raises:
            RequestError: All open requests together have too many.
        """
        self.hold(count)
        self.answers += count

    def release(self, count: int, answer: int = 0) -> None:
        """Forget bytes of a request that is answered, and of the provider's answer to it."""
        self.bytes -= count + answer
        self.answers -= answer

    @contextmanager
    def awaited(self, timeout: asyncio.Timeout) -> Iterator[None]:
        """Wait for the rest of a body in here; the time-out may come early."""
        self._waiting[timeout] = None
        if len(self._waiting) > self._limits.open_bodies:
            oldest = next(iter(self._waiting))
            del self._waiting[oldest]
            oldest.reschedule(asyncio.get_running_loop().time())
        try:
            yield
        finally:
            self._waiting.pop(timeout, None)
