"""A judge for the office server, and clients of a gateway: in memory and over HTTP."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from unittest.mock import patch

import anyio
import httpx2
import uvicorn
from mcp import Client
from mcp.client._memory import InMemoryTransport
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.shared.memory import create_client_server_memory_streams
from mcp.shared.transport_context import TransportContext
from mcp_types import CallToolResult, TextContent

from taskshield import AsyncShield
from taskshield.integrations.mcp import (
    Address,
    Checks,
    Command,
    Gateway,
    LocalChecks,
    Pins,
    Rules,
    http_app,
)
from taskshield.integrations.mcp.connections.link import Link
from tests.integrations.mcp.office import HIJACK, POISON, office
from tests.judging import TableJudge

TASK = "Read my newest mail."
EVIL = {"to": "eve@evil.example", "text": "all invoices"}
GOOD = {"to": "dan@office.example", "text": "Friday is fine."}
NOWHERE = Command(argv=("none",))
"""For gateways whose server is in this process."""


def judge(**more: Any) -> TableJudge:
    """A judge for whom Eve never serves the user, in calls, results and descriptions."""

    def directives(text: str) -> list[str]:
        return [directive for directive in (HIJACK, POISON) if directive in text]

    def score(text: str, task: str) -> float:
        return float("evil" not in text and "id_rsa" not in text)

    return TableJudge(directives=directives, score=score, **more)


@asynccontextmanager
async def through(gateway: Gateway, wrapped: Any) -> AsyncIterator[Any]:
    """Streams for a client of a gateway, in memory on both sides."""
    with patch(
        "taskshield.integrations.mcp.connections.link.transport",
        lambda _: InMemoryTransport(wrapped),
    ):
        async with create_client_server_memory_streams() as (given, (read, write)):
            client: JSONRPCDispatcher[TransportContext] = JSONRPCDispatcher(read, write)
            link = Link(gateway, client, gateway.session())
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(link.run)
                tasks.start_soon(client.run, link.on_request, link.on_notify)
                yield given
                await link.close()
                tasks.cancel_scope.cancel()


@asynccontextmanager
async def guarded(
    *,
    wrapped: Any = None,
    by: TableJudge | None = None,
    task: str | None = TASK,
    policy: dict[str, Any] | None = None,
    rules: Rules | None = None,
    pins: Pins | None = None,
    mode: str = "legacy",
    **client: Any,
) -> AsyncIterator[Client]:
    """A client of a gateway; judge and server are in this process."""
    async with AsyncShield(judge() if by is None else by, policy=policy or {}) as shield:
        checks = LocalChecks(shield, task=task)
        gateway = Gateway(NOWHERE, checks, rules=rules, pins=pins)
        way = through(gateway, office() if wrapped is None else wrapped)
        async with Client(way, mode=mode, **client) as guest:
            yield guest


@asynccontextmanager
async def listening(app: Any) -> AsyncIterator[str]:
    """The address of an app while it is served in this loop."""
    config = uvicorn.Config(
        app, log_config=None, ws="none", lifespan="on", timeout_graceful_shutdown=1
    )
    server = uvicorn.Server(config)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        serving = asyncio.create_task(server.serve(sockets=[taken]))
        await until(lambda: server.started)
        try:
            yield f"http://127.0.0.1:{taken.getsockname()[1]}"
        finally:
            server.should_exit = True
            await serving


@asynccontextmanager
async def over_http(checks: Checks, wrapped: Any) -> AsyncIterator[str]:
    """The address of a gateway in front of a server, both over HTTP."""
    async with listening(wrapped.streamable_http_app()) as there:
        gateway = Gateway(Address(url=f"{there}/mcp"), checks)
        async with listening(http_app({"/mcp": gateway})) as here:
            yield f"{here}/mcp"


@asynccontextmanager
async def connected(
    url: str, *, mode: str = "legacy", headers: dict[str, str] | None = None, **client: Any
) -> AsyncIterator[Client]:
    """A client over HTTP."""
    async with (
        httpx2.AsyncClient(headers=headers) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode, **client) as guest,
    ):
        yield guest


async def until(true: Callable[[], bool]) -> None:
    """Wait until this is true."""
    async with asyncio.timeout(20):
        while not true():  # noqa: ASYNC110
            await asyncio.sleep(0.002)


def text(result: CallToolResult) -> str:
    """All text of a result."""
    return "\n".join(block.text for block in result.content if isinstance(block, TextContent))


def alive(pid: int) -> bool:
    """Whether the process is running."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
