"""Serves a gateway over standard streams, until the client or the wrapped server ends."""

import asyncio
import threading
from contextlib import ExitStack, suppress
from typing import cast

import anyio
from mcp import stdio_server
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.shared.transport_context import TransportContext

from taskshield.core.errors import UpstreamError
from taskshield.integrations.mcp.connections.link import Link
from taskshield.integrations.mcp.gateway import Gateway

_AHEAD = 64
"""Most lines that are read in advance."""


async def serve_stdio(gateway: Gateway) -> None:
    """Serve the client at the standard streams until it closes them.

    Raises:
        UpstreamError: The wrapped server could not be started, or ended before the client did.
    """
    lines = _StandardInput()
    # The SDK only iterates over it; an `AsyncFile` would wait for a line that may never come.
    stdin = cast("anyio.AsyncFile[str]", lines)
    failure: str | None = None
    try:
        with ExitStack() as last:
            async with stdio_server(stdin=stdin) as (read, write):
                # Closed last: the SDK reports a failure if a message arrives after that.
                last.callback(read.close)
                client: JSONRPCDispatcher[TransportContext] = JSONRPCDispatcher(read.clone(), write)
                failure = await _serve(gateway, client, lines)
                async for _ in read:
                    pass
    except* OSError:
        pass  # the client has closed its end
    finally:
        lines.close()
    if failure is not None:
        raise UpstreamError(failure)


async def _serve(
    gateway: Gateway, client: JSONRPCDispatcher[TransportContext], lines: "_StandardInput"
) -> str | None:
    """Serve until either side ends; the reason if it was the server."""
    link = Link(gateway, client, gateway.session())

    async def leave_with_server() -> None:
        await link.ended.wait()
        await link.finish()
        lines.close()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(link.run)
        tasks.start_soon(leave_with_server)
        await client.run(link.on_request, link.on_notify)
        lines.close()
        server_ended = link.ended.is_set()
        tasks.cancel_scope.cancel()
    if not server_ended:
        return None
    return link.failure or "The wrapped server ended before its client did."


class _StandardInput:
    """Lines of the standard input, read in a thread that does not delay the end of the process."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._room = threading.Semaphore(_AHEAD)
        self._closed = False
        threading.Thread(target=self._read, daemon=True).start()

    def close(self) -> None:
        """End the iteration."""
        self._closed = True
        self._lines.put_nowait(None)

    def __aiter__(self) -> "_StandardInput":
        return self

    async def __anext__(self) -> str:
        line = None if self._closed else await self._lines.get()
        if line is None:
            raise StopAsyncIteration
        self._room.release()
        return line

    def _read(self) -> None:
        # Not sys.stdin: the end of the interpreter would wait for its lock.
        with suppress(OSError, RuntimeError), open(0, "rb", closefd=False) as given:
            for line in given:
                self._room.acquire()
                self._hand_over(line.decode("utf-8", "replace"))
        with suppress(RuntimeError):  # the loop is closed
            self._hand_over(None)

    def _hand_over(self, line: str | None) -> None:
        self._loop.call_soon_threadsafe(self._lines.put_nowait, line)
