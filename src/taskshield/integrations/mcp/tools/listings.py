"""Lists of prompts and resources: what tries to direct the agent is withheld."""

import logging
from collections.abc import Mapping
from typing import Any

import anyio
from mcp import MCPError
from mcp_types import INTERNAL_ERROR

from taskshield.integrations.mcp.tools.review import Reviewer

_log = logging.getLogger(__name__)

LISTS = {
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
}
"""The member with the items, by method."""
_MOST_ITEMS = 2_000
"""Most items of one page."""
_PARALLEL = 8
"""Items that are reviewed at the same time."""


async def reviewed(reviewer: Reviewer, method: str, page: Mapping[str, Any]) -> dict[str, Any]:
    """A page of a list as the client may see it.

    Raises:
        MCPError: It is not such a list, or it is too long.
    """
    member = LISTS[method]
    given = page.get(member)
    if not isinstance(given, list) or not all(isinstance(item, dict) for item in given):
        raise MCPError(INTERNAL_ERROR, f"The wrapped server's list of {member} cannot be read.")
    if len(given) > _MOST_ITEMS:
        raise MCPError(INTERNAL_ERROR, f"The wrapped server lists over {_MOST_ITEMS} {member}.")
    kept = await reviewer.without_poison(page, keeping=member)
    return {**kept, member: await _clean(reviewer, given)}


async def _clean(reviewer: Reviewer, items: list[Any]) -> list[Any]:
    """The items that do not try to direct the agent, in order."""
    clean: dict[int, Any] = {}
    limit = anyio.CapacityLimiter(_PARALLEL)

    async def check(number: int, item: Any) -> None:
        async with limit:
            if await reviewer.about(item) == "clean":
                clean[number] = item

    if await reviewer.about(items) == "clean":
        return items
    async with anyio.create_task_group() as group:
        for number, item in enumerate(items):
            group.start_soon(check, number, item)
    if len(clean) < len(items):
        _log.warning("withheld %d items of a list", len(items) - len(clean))
    return [clean[number] for number in sorted(clean)]
