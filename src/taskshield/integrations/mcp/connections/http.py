"""Serves gateways over streamable HTTP, for any number of clients.

A client of a protocol with a handshake has its own connection to the wrapped server. Requests of
newer protocols are independent: they are forwarded only to servers with an address. If the wrapped
server is a command, the client must use a handshake, because a new process for each request would
have no state.
"""

import logging
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import anyio
import anyio.abc
import uvicorn
from mcp import MCPError
from mcp.server.connection import Connection
from mcp.server.context import CallNext, HandlerResult
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import (
    StreamableHTTPASGIApp,
    StreamableHTTPSessionManager,
)
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import INTERNAL_ERROR, UNSUPPORTED_PROTOCOL_VERSION
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS
from starlette.applications import Starlette
from starlette.routing import Route

from taskshield._version import __version__
from taskshield.core.errors import ConfigError
from taskshield.integrations.mcp.connections.link import Link
from taskshield.integrations.mcp.connections.sdk_internals import (
    Channel,
    Context,
    channel_of,
    connection_of,
)
from taskshield.integrations.mcp.gateway import Gateway
from taskshield.integrations.mcp.requests.own_errors import GatewayError
from taskshield.integrations.mcp.targets import Command

_log = logging.getLogger(__name__)

_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_SECURITY = TransportSecuritySettings(
    enable_dns_rebinding_protection=True,
    allowed_hosts=["127.0.0.1:*", "localhost:*", "[::1]:*"],
    allowed_origins=["http://127.0.0.1:*", "http://localhost:*", "http://[::1]:*"],
)
_SHUTDOWN_S = 3
"""How long open streams may last after the signal to stop."""
_MOST_SESSIONS = 32
"""Most clients of one server at a time: each may have a process. A further one gets status 503."""
_IDLE_S = 600.0
"""A client without a request or an open stream for this long has ended."""
_MOST_INDEPENDENT = 64
"""Most independent requests to one server at a time."""
_LINK = "taskshield"
"""The key of the link in the state of a connection."""


def http_app(gateways: Mapping[str, Gateway]) -> Starlette:
    """An ASGI app with each gateway at its path, e.g. "/mcp"."""
    managers = {
        path: StreamableHTTPSessionManager(
            _served(gateway),
            security_settings=_SECURITY,
            session_idle_timeout=_IDLE_S,
            max_sessions=_MOST_SESSIONS,
        )
        for path, gateway in gateways.items()
    }

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as running:
            for manager in managers.values():
                await running.enter_async_context(manager.run())
            yield

    routes = [
        Route(path, endpoint=StreamableHTTPASGIApp(manager)) for path, manager in managers.items()
    ]
    return Starlette(routes=routes, lifespan=lifespan)


async def serve_http(gateways: Mapping[str, Gateway], host: str, port: int) -> None:
    """Serve clients of this machine until the process gets a signal to stop.

    Raises:
        ConfigError: The address cannot be used, or other machines could reach it.
    """
    if host not in _LOOPBACK:
        raise ConfigError(
            f"Other machines could use the wrapped servers at {host} without a key. Listen on"
            " 127.0.0.1."
        )
    config = uvicorn.Config(
        http_app(gateways),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_SHUTDOWN_S,
    )
    with _bound(host, port) as listener:
        for path in gateways:
            _log.info("listening on http://%s:%d%s", host, listener.getsockname()[1], path)
        await uvicorn.Server(config).serve(sockets=[listener])


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen()  # clients can connect from now on
    except (OSError, OverflowError) as error:
        listener.close()
        why = getattr(error, "strerror", None) or "there is no such port"
        raise ConfigError(f"{host}:{port} cannot be used: {why}.") from None
    return listener


def _served(gateway: Gateway) -> "Server[anyio.abc.TaskGroup]":
    """A server of the SDK that gives every message to a gateway."""
    server = Server("taskshield", version=__version__, lifespan=_tasks)
    server.middleware[:] = [_Relay(gateway)]
    return server


class _Relay:
    """Middleware of the SDK that answers through a link, so that the SDK's server never does."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._shared = gateway.session()
        """The session of independent requests that name none."""
        self._independent = 0

    async def __call__(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        connection, channel = connection_of(ctx), channel_of(ctx)
        if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
            return await self._answer_independent(ctx, channel)
        link = self._link(connection, ctx.lifespan_context)
        if ctx.request_id is None:
            await link.on_notify(channel, ctx.method, ctx.params)
            return None
        return await link.on_request(channel, ctx.method, ctx.params, _headers(ctx))

    def _link(self, connection: Connection, tasks: anyio.abc.TaskGroup) -> Link:
        """The link of a client; it ends with the client's connection."""
        if _LINK not in connection.state:
            link = Link(self._gateway, connection, self._gateway.session())
            connection.state[_LINK] = link
            connection.exit_stack.push_async_callback(link.close)
            tasks.start_soon(link.run)
        found: Link = connection.state[_LINK]
        return found

    async def _answer_independent(self, ctx: Context, channel: Channel) -> dict[str, Any]:
        """Answer an independent request, through its own link."""
        if isinstance(self._gateway.target, Command):
            versions = {
                "supported": list(HANDSHAKE_PROTOCOL_VERSIONS),
                "requested": ctx.protocol_version,
            }
            raise MCPError(
                UNSUPPORTED_PROTOCOL_VERSION,
                "The wrapped server can only be reached with a protocol that has a handshake.",
                versions,
            )
        if self._independent >= _MOST_INDEPENDENT:
            raise GatewayError(INTERNAL_ERROR, "The gateway is busy. Try again later.")
        link = Link(self._gateway, channel, self._shared)
        self._independent += 1
        ctx.lifespan_context.start_soon(link.run)
        try:
            return await link.on_request(channel, ctx.method, ctx.params, _headers(ctx))
        finally:
            self._independent -= 1
            with anyio.CancelScope(shield=True):
                await link.close()


@asynccontextmanager
async def _tasks(server: "Server[anyio.abc.TaskGroup]") -> AsyncIterator[anyio.abc.TaskGroup]:
    """The tasks of links: they outlive the request that opens them and end with the server."""
    async with anyio.create_task_group() as tasks:
        yield tasks
        tasks.cancel_scope.cancel()


def _headers(ctx: Context) -> Mapping[str, str]:
    return {} if ctx.request is None else ctx.request.headers
