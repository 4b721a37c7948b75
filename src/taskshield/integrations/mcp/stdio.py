"""A gateway over standard streams: one client, one wrapped server, until either leaves."""

import asyncio
import threading
from contextlib import ExitStack, suppress
from typing import cast

import anyio
from mcp import stdio_server
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.shared.transport_context import TransportContext

from taskshield.core.errors import UpstreamError
from taskshield.integrations.mcp.gateway import Gateway
from taskshield.integrations.mcp.link import Link

_AHEAD = 64
"""Lines that are read before somebody asks for them."""


async def serve_stdio(gateway: Gateway) -> None:
    """Serve the client at the standard streams until it leaves.

    Raises:
        UpstreamError: The wrapped server could not be started, or left before the client did.
    """
    lines = _StandardInput()
    # The SDK only iterates over it; an `AsyncFile` would wait for a line that may never come.
    given = cast("anyio.AsyncFile[str]", lines)
    lost: str | None = None
    try:
        with ExitStack() as last:
            async with stdio_server(stdin=given) as (read, write):
                # Closed only when nobody sends any more: the SDK takes that for a failure.
                last.callback(read.close)
                client: JSONRPCDispatcher[TransportContext] = JSONRPCDispatcher(read.clone(), write)
                lost = await _linked(gateway, client, lines)
                async for _ in read:
                    pass
    except* OSError:
        pass  # the client reads no more, so it has left
    finally:
        lines.close()
    if lost is not None:
        raise UpstreamError(lost)


async def _linked(
    gateway: Gateway, client: JSONRPCDispatcher[TransportContext], lines: "_StandardInput"
) -> str | None:
    """Serve until either side has left; where that was the server, why."""
    link = Link(gateway, client, gateway.session())

    async def leave_with_server() -> None:
        await link.ended.wait()
        await link.answered()
        lines.close()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(link.run)
        tasks.start_soon(leave_with_server)
        await client.run(link.on_request, link.on_notify)
        lines.close()
        alone = link.ended.is_set()
        tasks.cancel_scope.cancel()
    if not alone:
        return None
    return link.failure or "the wrapped server ended before its client did"


class _StandardInput:
    """Lines of the standard input, read in a thread that nobody has to wait for."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._room = threading.Semaphore(_AHEAD)
        self._closed = False
        threading.Thread(target=self._read, daemon=True).start()

    def close(self) -> None:
        """Let the iteration end."""
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
        with suppress(RuntimeError):  # the loop is closed: nobody listens any more
            self._hand_over(None)

    def _hand_over(self, line: str | None) -> None:
        self._loop.call_soon_threadsafe(self._lines.put_nowait, line)
