"""What the gateway reads of the MCP SDK though the SDK does not publish it.

Middleware of the SDK gets a context without the client's connection and without the way back to
the client, and the SDK has no public way to either. Only this module reads private attributes of
it; `tests/integrations/mcp/test_sdk_internals.py` fails when a release of the SDK changes them.
"""

from typing import Any

import anyio.abc
from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext
from mcp.shared.dispatcher import DispatchContext
from mcp.shared.transport_context import TransportContext

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
