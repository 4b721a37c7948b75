"""The streams of a wrapped server that is a command: a process of its own.

Lines are read within limits; a message that cannot be read becomes an error. Order of the end: its
input is closed, it gets time to end, then it is ended with all its children.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
import anyio.to_thread
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.os.win32.utilities import ServerProcess
from mcp.shared.message import SessionMessage

from taskshield.integrations.mcp.connections import wire
from taskshield.integrations.mcp.connections.error_output import error_output
from taskshield.integrations.mcp.connections.lines import Lines
from taskshield.integrations.mcp.connections.sdk_internals import (
    drain,
    start_process,
    stop_process,
)
from taskshield.integrations.mcp.targets import Command

_FLUSH_S = 0.5
"""Time to write what was sent, before the input is closed."""
_CLOSED = (anyio.ClosedResourceError, anyio.BrokenResourceError, OSError)

Received = SessionMessage | Exception


@asynccontextmanager
async def process_streams(target: Command) -> AsyncIterator[Any]:
    """Start the command; the streams of its messages.

    Raises:
        OSError: It cannot be started.
        ValueError: It is not valid.
    """
    with error_output() as errors:
        process = await start_process(target, errors)
    given, read = anyio.create_memory_object_stream[Received](0)
    write, taken = anyio.create_memory_object_stream[SessionMessage](0)
    written = anyio.Event()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_read, process, given)
        tasks.start_soon(_write, process, taken, given, written)
        try:
            yield read, write
        finally:
            with anyio.CancelScope(shield=True):
                read.close()
                write.close()
                with anyio.move_on_after(_FLUSH_S):
                    await written.wait()
                await stop_process(process)
                for stream in (given, taken):
                    stream.close()
                await anyio.lowlevel.checkpoint()
            tasks.cancel_scope.cancel()


async def _read(process: ServerProcess, given: MemoryObjectSendStream[Received]) -> None:
    assert process.stdout is not None
    lines = Lines(wire.MOST_BYTES)
    with suppress(*_CLOSED):
        async with given:
            try:
                async for chunk in process.stdout:
                    for line, whole in lines.add(chunk):
                        await given.send(await _message(line) if whole else wire.unreadable(line))
            finally:
                await drain(process)


async def _message(line: bytes) -> Received:
    """The message in a line. Other clients do not wait until a long one is read."""
    if len(line) <= wire.SHORT:
        return wire.read(line)
    return await anyio.to_thread.run_sync(wire.read, line)


async def _write(
    process: ServerProcess,
    taken: MemoryObjectReceiveStream[SessionMessage],
    given: MemoryObjectSendStream[Received],
    written: anyio.Event,
) -> None:
    assert process.stdin is not None
    try:
        async with taken:
            async for each in taken:
                text = each.message.model_dump_json(by_alias=True, exclude_unset=True)
                await process.stdin.send(text.encode("utf-8", "replace") + b"\n")
    except _CLOSED:
        given.close()  # a request must not wait for a server that gets none
    finally:
        written.set()
