"""Uses what docs/integrations/mcp.md shows, with the SDK's client."""

import asyncio
from typing import Any

from mcp import Client, StdioServerParameters, stdio_client
from starlette.routing import Route


def over_stdio(names: dict[str, Any]) -> None:
    """The tools of the server are there, and one answers."""
    for settings in names["servers"].values():
        asyncio.run(_use(stdio_client(StdioServerParameters(**settings))))


def over_http(names: dict[str, Any]) -> None:
    """The same for a gateway with an address."""
    asyncio.run(_use(names["url"]))


def app(names: dict[str, Any]) -> None:
    """The app has the gateway's address."""
    (route,) = names["app"].routes
    assert isinstance(route, Route) and route.path == "/notes/mcp"


async def _use(server: Any) -> None:
    async with Client(server) as client:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        assert {"read_mail", "send_mail"} <= tools, tools
        result = await client.call_tool("read_mail", {"folder": "inbox"})
        assert "lunch on Friday" in str(result.content)
