"""A client of a gateway that shows every message as it arrives. The wrapped server is real."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from typing import Any

import anyio
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.shared.memory import create_client_server_memory_streams
from mcp.shared.message import SessionMessage
from mcp.shared.transport_context import TransportContext
from mcp_types import jsonrpc_message_adapter

from taskshield import AsyncShield
from taskshield.integrations.mcp import Command, Gateway, LocalChecks, Target
from taskshield.integrations.mcp.connections.link import Link
from tests.integrations.mcp import hostile
from tests.integrations.mcp.hidden_orders import HELLO, ORDER, said
from tests.judging import TableJudge

STDIO = Command(argv=(sys.executable, hostile.__file__))
MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
}


def reader() -> TableJudge:
    """A judge that finds the order in any line that says it."""
    return TableJudge(
        directives=lambda text: [ORDER] if said(text) else [],
        score=lambda text, task: float(not said(text)),
    )


class Wiretap:
    """The client's end of a connection."""

    def __init__(self, streams: Any) -> None:
        self._read, self._write = streams
        self._numbers = count(1)
        self._answered: dict[object, asyncio.Future[dict[str, Any]]] = {}
        self.received: list[dict[str, Any]] = []
        """Every message from the gateway."""

    async def run(self) -> None:
        """Read until the end. Requests get an empty answer."""
        async for each in self._read:
            message = each.message.model_dump(by_alias=True, exclude_unset=True, mode="json")
            self.received.append(message)
            if "method" in message and "id" in message:
                await self._send({"id": message["id"], "result": {}})
            elif message.get("id") in self._answered:
                self._answered[message["id"]].set_result(message)

    async def ask(self, method: str, params: dict[str, Any], within: float = 20) -> dict[str, Any]:
        """The whole answer to a request."""
        id = next(self._numbers)
        self._answered[id] = asyncio.get_running_loop().create_future()
        await self._send({"id": id, "method": method, "params": params})
        async with asyncio.timeout(within):
            return await self._answered[id]

    async def call(self, how: str, within: float = 20) -> dict[str, Any]:
        """The answer to a call of the server's tool."""
        given = {"name": "get_it", "arguments": {"how": how}}
        return await self.ask("tools/call", given, within)

    async def note(self, method: str) -> None:
        """Send a notification."""
        await self._send({"method": method})

    async def _send(self, message: dict[str, Any]) -> None:
        made = jsonrpc_message_adapter.validate_python({"jsonrpc": "2.0", **message})
        await self._write.send(SessionMessage(made))


@asynccontextmanager
async def tapped(
    target: Target = STDIO,
    *,
    by: TableJudge | None = None,
    hello: bool = True,
    policy: dict[str, Any] | None = None,
) -> AsyncIterator[Wiretap]:
    """A client of a gateway in front of the hostile server."""
    judge = reader() if by is None else by
    async with AsyncShield(judge, policy=policy or {}) as shield:
        gateway = Gateway(target, LocalChecks(shield, task="Get it."))
        async with linked(gateway) as tap:
            if hello:
                await tap.ask("initialize", {**HELLO, "clientInfo": {"name": "tap"}})
            yield tap


@asynccontextmanager
async def linked(gateway: Gateway) -> AsyncIterator[Wiretap]:
    """A client of a gateway, with a link of its own."""
    async with create_client_server_memory_streams() as (given, (read, write)):
        client: JSONRPCDispatcher[TransportContext] = JSONRPCDispatcher(read, write)
        link = Link(gateway, client, gateway.session())
        tap = Wiretap(given)
        async with anyio.create_task_group() as tasks:
            for each in (link.run, tap.run):
                tasks.start_soon(each)
            tasks.start_soon(client.run, link.on_request, link.on_notify)
            yield tap
            await link.close()
            tasks.cancel_scope.cancel()
