"""Clients that disconnect: the work for their request is cancelled."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import aclosing
from typing import Any, TypeVar

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from taskshield.server.proxy.headers import Headers

T = TypeVar("T")

CLIENT_CLOSED_REQUEST = 499
"""The status in logs and metrics where the client disconnected before it was answered."""


class ClientDisconnected(Exception):
    """The client has closed the connection."""


async def while_connected(receive: Receive, work: Coroutine[Any, Any, T]) -> T:
    """Do some work for a request whose body was read, as long as the client is connected.

    Raises:
        ClientDisconnected: The client has disconnected, and the work was cancelled.
    """
    working = asyncio.create_task(work)
    watching = asyncio.create_task(_disconnected(receive))
    try:
        await asyncio.wait((working, watching), return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise ClientDisconnected
    finally:
        await cancel(working, watching)


async def cancel(*tasks: asyncio.Task[Any]) -> None:
    """Cancel tasks, and wait until they have ended."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


class Relay(Response):
    """A response whose body comes in chunks, until its end or until the client disconnects."""

    def __init__(
        self,
        chunks: AsyncGenerator[bytes, None],
        *,
        status: int,
        headers: Headers,
        close: Callable[[], Awaitable[None]],
    ) -> None:
        """Prepare it.

        Args:
            chunks: The body.
            status: The HTTP status.
            headers: All headers.
            close: Releases the source of the chunks; called however this ends.
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
            await while_connected(receive, self._send_chunks(send))
        except ClientDisconnected:
            return
        finally:
            await self._close()
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _send_chunks(self, send: Send) -> None:
        async with aclosing(self._chunks):
            async for chunk in self._chunks:
                await send({"type": "http.response.body", "body": chunk, "more_body": True})


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
