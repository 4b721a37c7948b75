"""Gateways over streamable HTTP: any number of clients, each with a connection of its own.

Clients of the protocols with a handshake have a session, and a wrapped server of their own in it.
Requests of the newer protocol stand alone: they pass to servers that have an address, and clients
of a command are told to use the handshake, because a process per request would know nothing.
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
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import (
    StreamableHTTPASGIApp,
    StreamableHTTPSessionManager,
)
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import UNSUPPORTED_PROTOCOL_VERSION
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS
from starlette.applications import Starlette
from starlette.routing import Route

from taskshield._version import __version__
from taskshield.core.errors import ConfigError
from taskshield.integrations.mcp.gateway import Gateway
from taskshield.integrations.mcp.link import Channel, Link
from taskshield.integrations.mcp.targets import Command

_log = logging.getLogger(__name__)

_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_SECURITY = TransportSecuritySettings(
    enable_dns_rebinding_protection=True,
    allowed_hosts=["127.0.0.1:*", "localhost:*", "[::1]:*"],
    allowed_origins=["http://127.0.0.1:*", "http://localhost:*", "http://[::1]:*"],
)
_SHUTDOWN_S = 3
"""How long streams may go on when the gateway is told to stop."""
_LINK = "taskshield"
"""Where a connection keeps its link."""

_Context = ServerRequestContext[anyio.abc.TaskGroup, Any]


def http_app(gateways: Mapping[str, Gateway]) -> Starlette:
    """An ASGI app with each gateway at its path, e.g. "/mcp"."""
    managers = {
        path: StreamableHTTPSessionManager(_served(gateway), security_settings=_SECURITY)
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
    """Serve clients of this machine until the process is told to stop.

    Raises:
        ConfigError: The address cannot be used, or others could reach it.
    """
    if host not in _LOOPBACK:
        raise ConfigError(
            f"{host} could be reached by others, who would need no key to use the wrapped servers;"
            " listen on 127.0.0.1"
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
    with _bound(host, port) as taken:
        for path in gateways:
            _log.info("listening on http://%s:%d%s", host, taken.getsockname()[1], path)
        await uvicorn.Server(config).serve(sockets=[taken])


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    taken = socket.socket(family)
    try:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind((host, port))
        taken.listen()  # from here on clients may come, though they may have to wait
    except (OSError, OverflowError) as error:
        taken.close()
        why = getattr(error, "strerror", None) or "there is no such port"
        raise ConfigError(f"{host}:{port} cannot be used: {why}") from None
    return taken


def _served(gateway: Gateway) -> "Server[anyio.abc.TaskGroup]":
    """A server of the SDK that leaves every message to a gateway."""
    server = Server("taskshield", version=__version__, lifespan=_tasks)
    server.middleware[:] = [_Relay(gateway)]
    return server


class _Relay:
    """Middleware of the SDK that answers by way of a link, and never lets the server answer."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._shared = gateway.session()
        """For requests that stand alone and name no session."""

    async def __call__(self, ctx: _Context, call_next: CallNext) -> HandlerResult:
        connection, channel = _client_of(ctx)
        if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
            return await self._alone(ctx, channel)
        link = self._link(connection, ctx.lifespan_context)
        if ctx.request_id is None:
            await link.on_notify(channel, ctx.method, ctx.params)
            return None
        return await link.on_request(channel, ctx.method, ctx.params, _headers(ctx))

    def _link(self, connection: Connection, tasks: anyio.abc.TaskGroup) -> Link:
        """The link of a client, which ends with its connection."""
        if _LINK not in connection.state:
            link = Link(self._gateway, connection, self._gateway.session())
            connection.state[_LINK] = link
            connection.exit_stack.push_async_callback(link.close)
            tasks.start_soon(link.run)
        found: Link = connection.state[_LINK]
        return found

    async def _alone(self, ctx: _Context, channel: Channel) -> dict[str, Any]:
        """The answer to a request that stands alone, by way of a link for it alone."""
        if isinstance(self._gateway.target, Command):
            versions = {
                "supported": list(HANDSHAKE_PROTOCOL_VERSIONS),
                "requested": ctx.protocol_version,
            }
            raise MCPError(
                UNSUPPORTED_PROTOCOL_VERSION,
                "the wrapped server is reached by the handshake protocols only",
                versions,
            )
        link = Link(self._gateway, channel, self._shared)
        ctx.lifespan_context.start_soon(link.run)
        try:
            return await link.on_request(channel, ctx.method, ctx.params, _headers(ctx))
        finally:
            with anyio.CancelScope(shield=True):
                await link.close()


@asynccontextmanager
async def _tasks(server: "Server[anyio.abc.TaskGroup]") -> AsyncIterator[anyio.abc.TaskGroup]:
    """Links live here: longer than the request that opens them, shorter than the server."""
    async with anyio.create_task_group() as tasks:
        yield tasks
        tasks.cancel_scope.cancel()


def _client_of(ctx: _Context) -> tuple[Connection, Channel]:
    """The client's connection, and the way back to it while this request is under way.

    The SDK tells middleware to keep things in the connection, and shows no public way to it yet.
    """
    return ctx.session._connection, ctx.session._request_outbound


def _headers(ctx: _Context) -> Mapping[str, str]:
    return {} if ctx.request is None else ctx.request.headers
