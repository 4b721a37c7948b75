"""The tools of a server: checked when they are listed, pinned, and known when they are called."""

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
from taskshield.integrations.mcp.definitions import (
    Definition,
    digest_of,
    spec_of,
    unpinned_words_of,
    without_words,
    words_of,
)
from taskshield.integrations.mcp.pins import Pins
from taskshield.integrations.mcp.review import Reviewer
from taskshield.integrations.mcp.rules import Poisoned

_log = logging.getLogger(__name__)

WITHHELD = "taskshield/withheld"
"""Where in the `_meta` of a list the tools stand that are not in it."""
_TOGETHER = 8
"""Tools that are checked at the same time."""
_MOST_PAGES = 100

Ask = Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]]]
"""Gives a page of the server's list, for these params."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool that a server lists."""

    spec: ToolSpec
    """As the server defines it."""
    digest: str
    definition: Definition | None
    """As it may be listed; None where it may not."""
    refusal: str | None = None
    """Why it cannot be called; None where it can."""
    good: bool = False
    """Whether its words were read and found good, or were accepted by a person."""

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
        """The server says that its tools have changed."""
        self._tools.clear()

    def schema(self, name: object) -> Mapping[str, object] | None:
        """The schema of a tool's arguments, where the tool is known."""
        tool = self._tools.get(name) if isinstance(name, str) else None
        return None if tool is None else tool.spec.parameters

    async def find(self, name: str, ask: Ask) -> Tool | None:
        """The tool with this name; the server is asked where it is not known.

        Raises:
            MCPError: The server does not say which tools it has.
        """
        async with self._listing:
            if name not in self._tools:
                await self._list_all(ask)
            return self._tools.get(name)

    async def listed(self, result: Mapping[str, Any]) -> dict[str, Any]:
        """A page of the server's list as the client may see it.

        Raises:
            MCPError: It is not a list of tools, or what was seen cannot be pinned.
        """
        given = result.get("tools")
        if not isinstance(given, list):
            raise MCPError(INTERNAL_ERROR, "the wrapped server's list of tools cannot be read")
        tools = await self._checked(given)
        shown = [tool.definition for tool in tools if tool.definition is not None]
        hidden = [
            {"name": tool.name, "reason": tool.refusal} for tool in tools if tool.definition is None
        ]
        if not hidden:
            return {**result, "tools": shown}
        meta = result.get("_meta")
        kept = meta if isinstance(meta, dict) else {}
        return {**result, "tools": shown, "_meta": {**kept, WITHHELD: hidden}}

    async def _list_all(self, ask: Ask) -> None:
        cursor: object = None
        for _ in range(_MOST_PAGES):
            page = await ask({} if cursor is None else {"cursor": cursor})
            await self.listed(page)
            cursor = page.get("nextCursor")
            if cursor is None:
                return

    async def _checked(self, given: Sequence[Any]) -> list[Tool]:
        """The tools of a page, in order, checked and pinned."""
        found: dict[int, Tool] = {}
        limit = anyio.CapacityLimiter(_TOGETHER)

        async def check(number: int, definition: Definition) -> None:
            async with limit:
                found[number] = await self._tool(definition)

        async with anyio.create_task_group() as group:
            for number, definition in enumerate(given):
                if isinstance(definition, dict) and isinstance(definition.get("name"), str):
                    group.start_soon(check, number, definition)
                else:
                    _log.warning("a tool without a name is not listed")
        tools = [found[number] for number in sorted(found)]
        self._pin({tool.name: tool.digest for tool in tools if tool.good})
        self._tools.update({tool.name: tool for tool in tools})
        return tools

    async def _tool(self, definition: Definition) -> Tool:
        try:
            spec, digest = spec_of(definition), digest_of(definition)
        except (WireFormatError, ValueError):  # nested beyond reason, or a number too long to write
            return _hidden(ToolSpec(name=definition["name"]), "", notes.UNREADABLE)
        match self._pins.state(spec.name, digest):
            case "changed":
                return _hidden(spec, digest, notes.CHANGED)
            case "same" if await self._reviewer.verdict(unpinned_words_of(definition)) == "clean":
                return Tool(spec=spec, digest=digest, definition=definition, good=True)
            case "same" | "new":
                return await self._reviewed(definition, spec, digest)
            case _ as unreachable:
                assert_never(unreachable)

    async def _reviewed(self, definition: Definition, spec: ToolSpec, digest: str) -> Tool:
        verdict = await self._reviewer.verdict(words_of(definition))
        match verdict:
            case "clean":
                return Tool(spec=spec, digest=digest, definition=definition, good=True)
            case "unchecked":
                bare = without_words(definition, notes.DESCRIPTION_UNCHECKED)
                return Tool(spec=spec, digest=digest, definition=bare)
            case "poisoned":
                bare = without_words(definition, notes.DESCRIPTION_REMOVED)
                if self._poisoned == "withhold" or not await self._harmless(bare):
                    return _hidden(spec, digest, notes.POISONED)
                _log.warning("the description of the tool %r is replaced", spec.name)
                return Tool(spec=spec, digest=digest, definition=bare)
            case _ as unreachable:
                assert_never(unreachable)

    async def _harmless(self, bare: Definition) -> bool:
        """Whether nothing speaks in what is left of a definition: names, defaults, choices."""
        left = [text for text in words_of(bare) if text != bare["description"]]
        return await self._reviewer.verdict(left) == "clean"

    def _pin(self, digests: Mapping[str, str]) -> None:
        try:
            new = self._pins.pin(digests)
        except ConfigError as error:
            raise MCPError(INTERNAL_ERROR, str(error)) from None
        if new:
            _log.info("pinned as they are now: %s", ", ".join(map(repr, new)))


def _hidden(spec: ToolSpec, digest: str, reason: str) -> Tool:
    _log.warning("the tool %r is withheld: %s", spec.name, reason)
    return Tool(spec=spec, digest=digest, definition=None, refusal=reason)
