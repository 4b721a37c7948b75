"""Accepting a server's tools as they are now, when somebody has looked at what changed."""

from typing import Any

from mcp import Client, MCPError
from mcp_types import ListToolsRequest, PaginatedRequestParams
from pydantic import BaseModel, Field

from taskshield.core.errors import UpstreamError
from taskshield.integrations.mcp.definitions import digest_of, words_of
from taskshield.integrations.mcp.pins import Pins
from taskshield.integrations.mcp.review import Reviewer, Verdict
from taskshield.integrations.mcp.targets import Target
from taskshield.integrations.mcp.upstream import transport

_TIMEOUT_S = 30.0
_MOST_PAGES = 100


_Definition = dict[str, Any]


class Page(BaseModel):
    """A list of tools as it came, because hashes are made of that."""

    tools: list[_Definition]
    next: str | None = Field(default=None, alias="nextCursor")


async def accept(target: Target, pins: Pins, reviewer: Reviewer) -> dict[str, Verdict]:
    """Pin all tools of a server as they are now, whatever they say.

    Returns:
        The tools that were not pinned, or not so, before, with what a judge thinks of their words.

    Raises:
        UpstreamError: The server does not say which tools it has.
        ConfigError: The pins cannot be written.
    """
    try:
        tools = {tool["name"]: tool for tool in await _tools(target)}
    except (MCPError, OSError, ValueError, ExceptionGroup) as error:
        name = type(error).__name__
        raise UpstreamError(f"the wrapped server does not list its tools ({name})") from None
    new = pins.pin({name: digest_of(tool) for name, tool in tools.items()})
    return {name: await reviewer.verdict(words_of(tools[name])) for name in new}


async def _tools(target: Target) -> list[_Definition]:
    found: list[_Definition] = []
    cursor: str | None = None
    async with Client(transport(target), read_timeout_seconds=_TIMEOUT_S) as client:
        for _ in range(_MOST_PAGES):
            asked = ListToolsRequest(params=PaginatedRequestParams(cursor=cursor))
            page = await client.session.send_request(asked, Page)
            found += page.tools
            cursor = page.next
            if cursor is None:
                break
    return found
