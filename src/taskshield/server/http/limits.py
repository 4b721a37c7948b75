"""Limits of a request: the length of its body, how fast it arrives, and the time for an answer.

The limits of the JSON in it belong to `json_body`. The number of messages is limited a second time
by `SessionChecker`, which counts them however they were sent.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from taskshield.core import deadline
from taskshield.server.http.errors import RequestError
from taskshield.server.http.open_bodies import SLOWEST, OpenBodies
from taskshield.settings import LimitSettings

_CLOSE = {"connection": "close"}
"""The rest of the body is not read."""


@dataclass(slots=True)
class _Body:
    """The body of a request on its way to the app."""

    receive: Receive
    limits: LimitSettings
    open: OpenBodies
    deadline: float
    """When it has to be complete, by the clock of the loop. Each byte that arrives adds to it."""
    length: int = 0
    complete: bool = False
    answered: int = 0
    """Bytes of the provider's answer."""

    async def __call__(self) -> Message:
        if self.complete:
            return await self.receive()
        message = await self._arriving()
        if message["type"] == "http.request":
            self._count(len(message.get("body", b"")))
            self.complete = not message.get("more_body", False)
        return message

    def hold_answer(self, count: int) -> None:
        """Count bytes of the provider's answer, until the request is over."""
        self.open.hold_answer(count)
        self.answered += count

    async def _arriving(self) -> Message:
        due = self.deadline + self.length / SLOWEST
        try:
            async with asyncio.timeout_at(due) as limit:
                with self.open.awaited(limit):
                    return await self.receive()
        except TimeoutError:
            if not limit.expired():
                raise
            slow = "The body of the request arrives too slowly."
            raise RequestError(408, "request_timeout", slow, _CLOSE) from None

    def _count(self, length: int) -> None:
        if self.length + length > self.limits.body_bytes:
            raise _too_long(self.limits)
        self.open.hold(length)
        self.length += length


class Limits:
    """Middleware that raises an error for each request beyond the limits."""

    def __init__(self, app: ASGIApp, limits: LimitSettings, open_bodies: OpenBodies) -> None:
        self._app = app
        self._limits = limits
        self._open = open_bodies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        length = dict(scope["headers"]).get(b"content-length", b"")
        if length.isdigit() and int(length) > self._limits.body_bytes:
            raise _too_long(self._limits)
        scope["state"]["limits"] = self._limits
        due = asyncio.get_running_loop().time() + self._limits.body_s
        body = _Body(receive, self._limits, self._open, due)
        scope["state"]["hold_answer"] = body.hold_answer
        try:
            if scope["state"]["surface"].timed:
                await self._call_in_time(scope, body, send)
            else:
                await self._app(scope, body, send)
        finally:
            self._open.release(body.length, body.answered)

    async def _call_in_time(self, scope: Scope, body: _Body, send: Send) -> None:
        """Call the app, which must start its response within the time limit."""
        try:
            with deadline.within(self._limits.request_s):
                async with asyncio.timeout(self._limits.request_s) as limit:

                    async def send_in_time(message: Message) -> None:
                        limit.reschedule(None)
                        await send(message)

                    await self._app(scope, body, send_in_time)
        except TimeoutError as error:
            if not limit.expired() and not isinstance(error, deadline.DeadlinePassed):
                raise
            status, code = (504, "timeout") if body.complete else (408, "request_timeout")
            late = f"The request took longer than {self._limits.request_s:g} seconds."
            raise RequestError(status, code, late, _CLOSE) from None


@asynccontextmanager
async def in_time(seconds: float, what: str) -> AsyncIterator[None]:
    """A part of a request that has a limit of its own.

    Args:
        seconds: The limit.
        what: What takes this time, as the beginning of a sentence.

    Raises:
        RequestError: It took longer. Threads that still work on it end at their next step.
    """
    limit = asyncio.timeout(seconds)
    try:
        with deadline.within(seconds):
            async with limit:
                yield
    except TimeoutError as error:
        if not limit.expired() and not isinstance(error, deadline.DeadlinePassed):
            raise
        late = f"{what} took longer than {seconds:g} seconds."
        raise RequestError(504, "timeout", late) from None


def _too_long(limits: LimitSettings) -> RequestError:
    longest = f"The body is longer than {limits.body_bytes} bytes."
    return RequestError(413, "too_large", longest, _CLOSE)
