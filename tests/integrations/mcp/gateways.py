"""What tests of gateways share: the protocols, and a server with one tool."""

from typing import Any

import pytest
from mcp.server.lowlevel import Server
from mcp_types import (
    CallToolResult,
    ListToolsResult,
    TextContent,
    Tool,
)

BOTH = pytest.mark.parametrize("mode", ["legacy", "auto"])
"""The protocols with a handshake, and the one without."""


def selling(
    description: str, *, title: str | None = None, schema: dict[str, Any] | None = None
) -> Server[Any]:
    """A server with one tool."""
    tool = Tool(
        name="find_price",
        title=title,
        description=description,
        input_schema={"type": "object"} if schema is None else schema,
    )

    async def listed(ctx: Any, params: Any) -> ListToolsResult:
        return ListToolsResult(tools=[tool])

    async def called(ctx: Any, params: Any) -> CallToolResult:
        return CallToolResult(content=[TextContent(type="text", text="12 EUR")])

    return Server("shop", on_list_tools=listed, on_call_tool=called)
