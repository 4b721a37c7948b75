"""Pins the tools of a server as they are now, after a person has reviewed what changed."""

from typing import Any

from mcp import Client, MCPError
from mcp_types import ListToolsRequest, PaginatedRequestParams
from pydantic import BaseModel, Field

from taskshield.core.errors import UpstreamError
from taskshield.integrations.mcp.connections.wrapped_server import transport
from taskshield.integrations.mcp.targets import Target
from taskshield.integrations.mcp.tools.definitions import digest_of, words_of
from taskshield.integrations.mcp.tools.pins import Pins
from taskshield.integrations.mcp.tools.review import Reviewer, Verdict

_TIMEOUT_S = 30.0
_MOST_PAGES = 100


_Definition = dict[str, Any]


class Page(BaseModel):
    """A page of a list of tools, unchanged: the hashes are made of it."""

    tools: list[_Definition]
    next: str | None = Field(default=None, alias="nextCursor")


async def accept(target: Target, pins: Pins, reviewer: Reviewer) -> dict[str, Verdict]:
    """Pin all tools of a server as they are now, whatever they say.

    Returns:
        The tools that are new or changed, each with the judge's verdict on its description.

    Raises:
        UpstreamError: The server does not list its tools.
        ConfigError: The pins cannot be written.
    """
    try:
        listed = await _tools(target)
        tools = {tool["name"]: tool for tool in listed if isinstance(tool.get("name"), str)}
        digests = {name: digest_of(tool) for name, tool in tools.items()}
    except (MCPError, OSError, ValueError, RuntimeError, ExceptionGroup) as error:
        name = type(error).__name__
        raise UpstreamError(f"The wrapped server did not list its tools ({name}).") from None
    return {name: await reviewer.about(tools[name], words_of) for name in pins.pin(digests)}


async def _tools(target: Target) -> list[_Definition]:
    found: list[_Definition] = []
    cursor: str | None = None
    async with Client(transport(target), read_timeout_seconds=_TIMEOUT_S) as client:
        for _ in range(_MOST_PAGES):
            request = ListToolsRequest(params=PaginatedRequestParams(cursor=cursor))
            page = await client.session.send_request(request, Page)
            found += page.tools
            cursor = page.next
            if cursor is None:
                break
    return found
