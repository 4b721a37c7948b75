"""Clients that go away: what is done for one of them is given up then."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import aclosing
from typing import Any, TypeVar

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from taskshield.server.proxy.headers import Headers

T = TypeVar("T")

GONE = 499
"""The status in logs and metrics where nobody was left to be answered."""


class ClientGone(Exception):
    """Nobody waits for the answer any more."""


async def unless_gone(receive: Receive, work: Coroutine[Any, Any, T]) -> T:
    """Do some work, the body of whose request was read, for as long as the client is there.

    Raises:
        ClientGone: It is not; the work was given up.
    """
    working = asyncio.create_task(work)
    leaving = asyncio.create_task(_gone(receive))
    try:
        await asyncio.wait((working, leaving), return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise ClientGone
    finally:
        await given_up(working, leaving)


async def given_up(*tasks: asyncio.Task[Any]) -> None:
    """End tasks whose outcome nobody waits for any more."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


class Relay(Response):
    """A response whose body comes in chunks that nobody waits for once the client is gone."""

    def __init__(
        self,
        chunks: AsyncGenerator[bytes, None],
        *,
        status: int,
        headers: Headers,
        close: Callable[[], Awaitable[None]],
    ) -> None:
        """Make it.

        Args:
            chunks: The body.
            status: The HTTP status.
            headers: All headers.
            close: Lets go of where the chunks come from, however this ends.
        """
        self._chunks = chunks
        self._close = close
        self.status_code = status
        self.raw_headers = headers
        self.background = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        start = {"status": self.status_code, "headers": self.raw_headers}
        try:
            await send({"type": "http.response.start", **start})
            await unless_gone(receive, self._sent(send))
        except ClientGone:
            return
        finally:
            await self._close()
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _sent(self, send: Send) -> None:
        async with aclosing(self._chunks):
            async for chunk in self._chunks:
                await send({"type": "http.response.body", "body": chunk, "more_body": True})


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
