"""The tools of a server: reviewed and pinned when they are listed, found when they are called."""

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, assert_never

import anyio
from mcp import MCPError
from mcp_types import INTERNAL_ERROR

from taskshield.core.errors import ConfigError, WireFormatError
from taskshield.core.tools import ToolSpec
from taskshield.integrations.mcp import notes
from taskshield.integrations.mcp.rules import Poisoned
from taskshield.integrations.mcp.tools.definitions import (
    Definition,
    digest_of,
    spec_of,
    unpinned_words_of,
    without_words,
    words_of,
)
from taskshield.integrations.mcp.tools.pins import Pins
from taskshield.integrations.mcp.tools.review import Reviewer

_log = logging.getLogger(__name__)

WITHHELD = "taskshield/withheld"
"""The key in the `_meta` of a list that names the withheld tools."""
_PARALLEL = 8
"""Tools that are reviewed at the same time."""
_MOST_PAGES = 100

ListPage = Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]]]
"""Gets a page of the server's list, for these params."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool that a server lists."""

    spec: ToolSpec
    """The server's definition, for the engine."""
    digest: str
    """Hash of the definition."""
    definition: Definition | None
    """The definition that clients see; None if the tool is withheld."""
    refusal: str | None = None
    """Why it cannot be called; None if it can."""
    accepted: bool = False
    """Whether the judge found its words clean, or a person accepted them."""

    @property
    def name(self) -> str:
        """Its name."""
        return self.spec.name


class Inventory:
    """The tools of one server."""

    def __init__(self, reviewer: Reviewer, pins: Pins, poisoned: Poisoned) -> None:
        self._reviewer = reviewer
        self._pins = pins
        self._poisoned = poisoned
        self._tools: dict[str, Tool] = {}
        self._listing = anyio.Lock()

    def forget(self) -> None:
        """Drop all tools: the server says that they have changed."""
        self._tools.clear()

    def schema(self, name: object) -> Mapping[str, object] | None:
        """The schema of a tool's arguments, if the tool is known."""
        tool = self._tools.get(name) if isinstance(name, str) else None
        return None if tool is None else tool.spec.parameters

    async def find(self, name: str, list_page: ListPage) -> Tool | None:
        """The tool with this name; the server lists its tools if it is not known.

        Raises:
            MCPError: The server does not list its tools.
        """
        async with self._listing:
            if name not in self._tools:
                await self._list_all(list_page)
            return self._tools.get(name)

    async def listed(self, result: Mapping[str, Any]) -> dict[str, Any]:
        """A page of the server's list as the client may see it.

        Raises:
            MCPError: It is not a list of tools, or the pins cannot be written.
        """
        given = result.get("tools")
        if not isinstance(given, list):
            raise MCPError(INTERNAL_ERROR, "The wrapped server's list of tools cannot be read.")
        tools = await self._checked(given)
        listed = [tool.definition for tool in tools if tool.definition is not None]
        withheld = [
            {"name": tool.name, "reason": tool.refusal} for tool in tools if tool.definition is None
        ]
        if not withheld:
            return {**result, "tools": listed}
        meta = result.get("_meta")
        kept = meta if isinstance(meta, dict) else {}
        return {**result, "tools": listed, "_meta": {**kept, WITHHELD: withheld}}

    async def _list_all(self, list_page: ListPage) -> None:
        cursor: object = None
        for _ in range(_MOST_PAGES):
            page = await list_page({} if cursor is None else {"cursor": cursor})
            await self.listed(page)
            cursor = page.get("nextCursor")
            if cursor is None:
                return

    async def _checked(self, given: Sequence[Any]) -> list[Tool]:
        """The tools of a page, in order, reviewed and pinned."""
        found: dict[int, Tool] = {}
        limit = anyio.CapacityLimiter(_PARALLEL)

        async def check(number: int, definition: Definition) -> None:
            async with limit:
                found[number] = await self._tool(definition)

        async with anyio.create_task_group() as group:
            for number, definition in enumerate(given):
                if isinstance(definition, dict) and isinstance(definition.get("name"), str):
                    group.start_soon(check, number, definition)
                else:
                    _log.warning("a tool without a name was withheld")
        tools = [found[number] for number in sorted(found)]
        self._pin({tool.name: tool.digest for tool in tools if tool.accepted})
        self._tools.update({tool.name: tool for tool in tools})
        return tools

    async def _tool(self, definition: Definition) -> Tool:
        try:
            spec, digest = spec_of(definition), digest_of(definition)
        except (WireFormatError, ValueError):  # nested too deeply, or a number with too many digits
            return _withheld(ToolSpec(name=definition["name"]), "", notes.UNREADABLE)
        match self._pins.state(spec.name, digest):
            case "changed":
                return _withheld(spec, digest, notes.CHANGED)
            case "same" if await self._reviewer.verdict(unpinned_words_of(definition)) == "clean":
                return Tool(spec=spec, digest=digest, definition=definition, accepted=True)
            case "same" | "new":
                return await self._reviewed(definition, spec, digest)
            case _ as unreachable:
                assert_never(unreachable)

    async def _reviewed(self, definition: Definition, spec: ToolSpec, digest: str) -> Tool:
        verdict = await self._reviewer.verdict(words_of(definition))
        match verdict:
            case "clean":
                return Tool(spec=spec, digest=digest, definition=definition, accepted=True)
            case "unchecked":
                bare = without_words(definition, notes.DESCRIPTION_UNCHECKED)
                return Tool(spec=spec, digest=digest, definition=bare)
            case "poisoned":
                bare = without_words(definition, notes.DESCRIPTION_REMOVED)
                if self._poisoned == "withhold" or not await self._is_clean_without_words(bare):
                    return _withheld(spec, digest, notes.POISONED)
                _log.warning("replaced the description of the tool %r", spec.name)
                return Tool(spec=spec, digest=digest, definition=bare)
            case _ as unreachable:
                assert_never(unreachable)

    async def _is_clean_without_words(self, bare: Definition) -> bool:
        """Whether the rest of a definition is clean: names, defaults, choices."""
        remaining = [text for text in words_of(bare) if text != bare["description"]]
        return await self._reviewer.verdict(remaining) == "clean"

    def _pin(self, digests: Mapping[str, str]) -> None:
        try:
            new = self._pins.pin(digests)
        except ConfigError as error:
            raise MCPError(INTERNAL_ERROR, str(error)) from None
        if new:
            _log.info("pinned tools: %s", ", ".join(map(repr, new)))


def _withheld(spec: ToolSpec, digest: str, reason: str) -> Tool:
    _log.warning("withheld the tool %r: %s", spec.name, reason)
    return Tool(spec=spec, digest=digest, definition=None, refusal=reason)
