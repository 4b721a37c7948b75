"""What `connections.sdk_internals` relies on. A failure here means that the MCP SDK changed it."""

import asyncio
import sys
from types import SimpleNamespace
from typing import Any, cast

import anyio
import pytest
from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp_types.version import LATEST_HANDSHAKE_VERSION

from taskshield.integrations.mcp import Command
from taskshield.integrations.mcp.connections.error_output import error_output
from taskshield.integrations.mcp.connections.sdk_internals import (
    channel_of,
    connection_of,
    drain,
    start_process,
    stop_process,
)


def test_a_context_leads_to_the_connection_and_the_channel_that_its_session_was_made_with() -> None:
    channel = cast("Any", SimpleNamespace(can_send_request=True))
    connection = Connection(channel, protocol_version=LATEST_HANDSHAKE_VERSION)
    context: ServerRequestContext[Any, Any] = ServerRequestContext(
        session=ServerSession(channel, connection),
        lifespan_context=None,
        protocol_version=LATEST_HANDSHAKE_VERSION,
        method="tools/call",
    )
    assert connection_of(context) is connection
    assert channel_of(context) is channel


def test_a_connection_keeps_state_and_ends_it() -> None:
    channel = cast("Any", SimpleNamespace(can_send_request=True))
    connection = Connection(channel, protocol_version=LATEST_HANDSHAKE_VERSION)
    assert isinstance(connection.state, dict)
    assert callable(connection.exit_stack.push_async_callback)


def test_a_process_is_started_drained_and_ended(capfd: pytest.CaptureFixture[str]) -> None:
    program = "import sys; print('said', file=sys.stderr); print('x' * 100_000); sys.stdin.read()"

    async def scene() -> int | None:
        with error_output() as errors:
            process = await start_process(Command(argv=(sys.executable, "-c", program)), errors)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(drain, process)
            await stop_process(process)
        return process.returncode

    assert asyncio.run(scene()) == 0
    shown = ""
    while "said" not in shown:
        shown += capfd.readouterr().err
