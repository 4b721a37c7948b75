"""What the gateway reads of the MCP SDK though the SDK does not publish it.

Middleware of the SDK gets a context without the client's connection and without the way back to
the client, and the SDK has no public way to either. Its transport for commands reads lines without
a limit, so the gateway has its own, which starts and ends processes as the SDK does. Only this
module reads private names of the SDK; `tests/integrations/mcp/test_sdk_internals.py` fails when a
release of the SDK changes them.
"""

from typing import Any, TextIO

import anyio.abc
from mcp.client import stdio
from mcp.os.win32.utilities import ServerProcess
from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext
from mcp.shared.dispatcher import DispatchContext
from mcp.shared.transport_context import TransportContext

from taskshield.integrations.mcp.targets import Command

Channel = DispatchContext[TransportContext]
"""The way back to a client while one of its requests is under way."""

Context = ServerRequestContext[anyio.abc.TaskGroup, Any]
"""What middleware gets with each message; links live in its task group."""


def connection_of(context: Context) -> Connection:
    """The connection of the client that sent a message."""
    return context.session._connection


def channel_of(context: Context) -> Channel:
    """The way back to the client that sent a message."""
    return context.session._request_outbound


async def start_process(target: Command, errors: TextIO) -> ServerProcess:
    """Start a command in its own group of processes.

    Raises:
        OSError: It cannot be started.
        ValueError: It is not valid.
    """
    return await stdio._create_platform_compatible_process(
        command=await stdio._get_executable_command(target.argv[0]),
        args=list(target.argv[1:]),
        env={**stdio.get_default_environment(), **target.env},
        errlog=errors,
    )


async def stop_process(process: ServerProcess) -> None:
    """End a process with all its children."""
    await stdio._stop_server_process(process)


async def drain(process: ServerProcess) -> None:
    """Read what a process still writes, so that it can end."""
    await stdio._drain_stdout(process)
