"""The tools of a server: reviewed and pinned when they are listed, found when they are called."""

import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, assert_never

import anyio
import anyio.to_thread
from mcp import MCPError
from mcp_types import INTERNAL_ERROR, REQUEST_TIMEOUT

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
from taskshield.integrations.mcp.tools.names import can_be_shown, look
from taskshield.integrations.mcp.tools.pins import Pins
from taskshield.integrations.mcp.tools.review import Reviewer
from taskshield.integrations.mcp.words.offers import length_of
from taskshield.integrations.mcp.words.spelling import is_plain

_log = logging.getLogger(__name__)

WITHHELD = "taskshield/withheld"
"""The key in the `_meta` of a list that names the withheld tools."""
_PARALLEL = 8
"""Tools that are reviewed at the same time."""
_MOST_PAGES = 100
_MOST_TOOLS = 1_000
"""Most tools of a server."""
_LONGEST = 8_000_000
"""Most characters of all of them."""
_LISTING_S = 30.0
"""Longest time for a server to list its tools before one is called."""
_SHOWN = 128
"""Most characters of a name in a log."""

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
        self._length = 0
        self._listing = anyio.Lock()

    def forget(self) -> None:
        """Drop all tools: the server says that they have changed."""
        self._tools.clear()
        self._length = 0

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

    async def listed(self, result: Mapping[str, Any], *, first: bool = True) -> dict[str, Any]:
        """A page of the server's list as the client may see it.

        Args:
            result: The page.
            first: Whether it is the first page of a new list.

        Raises:
            MCPError: It is not a list of tools, it is too long, or the pins cannot be written.
        """
        given = result.get("tools")
        if not isinstance(given, list):
            raise MCPError(INTERNAL_ERROR, "The wrapped server's list of tools cannot be read.")
        if first:
            self.forget()
        self._length += await anyio.to_thread.run_sync(length_of, given)
        if len(given) + len(self._tools) > _MOST_TOOLS or self._length > _LONGEST:
            raise MCPError(
                INTERNAL_ERROR,
                f"The wrapped server lists over {_MOST_TOOLS} tools, or too long ones.",
            )
        tools = await self._checked(given)
        listed = [tool.definition for tool in tools if tool.definition is not None]
        withheld = [
            {"name": shown(tool.name), "reason": tool.refusal}
            for tool in tools
            if tool.definition is None
        ]
        page = await self._reviewer.without_poison(result, keeping="tools")
        if not withheld:
            return {**page, "tools": listed}
        meta = page.get("_meta")
        kept = meta if isinstance(meta, dict) else {}
        return {**page, "tools": listed, "_meta": {**kept, WITHHELD: withheld}}

    async def _list_all(self, list_page: ListPage) -> None:
        seen: set[object] = set()
        cursor: object = None
        with anyio.move_on_after(_LISTING_S):
            while cursor not in seen and len(seen) < _MOST_PAGES:
                seen.add(cursor)
                page = await list_page({} if cursor is None else {"cursor": cursor})
                await self.listed(page, first=cursor is None)
                cursor = page.get("nextCursor")
                if not isinstance(cursor, str):
                    return
            raise MCPError(INTERNAL_ERROR, "The wrapped server's list of tools does not end.")
        raise MCPError(REQUEST_TIMEOUT, "The wrapped server did not list its tools in time.")

    async def _checked(self, given: Sequence[Any]) -> list[Tool]:
        """The tools of a page, in order, reviewed and pinned."""
        named: dict[int, Definition] = {}
        first: dict[str, Definition] = {}
        for number, definition in enumerate(given):
            name = definition.get("name") if isinstance(definition, dict) else None
            if not isinstance(name, str):
                _log.warning("a tool without a name was withheld")
            elif first.setdefault(name, definition) is definition or first[name] != definition:
                named[number] = definition
        alike = self._alike([str(definition["name"]) for definition in named.values()])
        found: dict[int, Tool] = {}
        limit = anyio.CapacityLimiter(_PARALLEL)

        async def check(number: int, definition: Definition) -> None:
            async with limit:
                found[number] = await self._tool(definition, alike)

        async with anyio.create_task_group() as group:
            for number, definition in named.items():
                group.start_soon(check, number, definition)
        tools = [found[number] for number in sorted(found)]
        self._pin({tool.name: tool.digest for tool in tools if tool.accepted})
        self._tools.update({tool.name: tool for tool in tools})
        return tools

    def _alike(self, given: Sequence[str]) -> set[str]:
        """Names that look like the name of another tool, or are that of two."""
        names = [*given, *self._tools.keys() - set(given)]
        looks = Counter(look(name) for name in names)
        return {name for name in given if looks[look(name)] > 1}

    async def _tool(self, definition: Definition, alike: Container[str]) -> Tool:
        name = definition["name"]
        if not can_be_shown(name):
            return _withheld(ToolSpec(name=name), "", notes.UNSEEN)
        if name in alike:
            return _withheld(ToolSpec(name=name), "", notes.ALIKE)
        try:
            spec, digest = spec_of(definition), digest_of(definition)
        except (WireFormatError, ValueError, RecursionError):  # or a number with too many digits
            return _withheld(ToolSpec(name=name), "", notes.UNREADABLE)
        match self._pins.state(spec.name, digest):
            case "changed":
                return _withheld(spec, digest, notes.CHANGED)
            case "same" if await self._reviewer.about(definition, unpinned_words_of) == "clean":
                return Tool(spec=spec, digest=digest, definition=definition, accepted=True)
            case "same" | "new":
                return await self._reviewed(definition, spec, digest)
            case _ as unreachable:
                assert_never(unreachable)

    async def _reviewed(self, definition: Definition, spec: ToolSpec, digest: str) -> Tool:
        verdict = await self._reviewer.about(definition, words_of)
        match verdict:
            case "clean":
                return Tool(spec=spec, digest=digest, definition=definition, accepted=True)
            case "unchecked":
                bare = without_words(definition, notes.DESCRIPTION_UNCHECKED)
                if not await self._is_clean_without_words(bare):
                    return _withheld(spec, digest, notes.UNCHECKED)
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
        return await self._reviewer.about(bare, _remaining_words) == "clean"

    def _pin(self, digests: Mapping[str, str]) -> None:
        try:
            new = self._pins.pin(digests)
        except ConfigError as error:
            raise MCPError(INTERNAL_ERROR, str(error)) from None
        if new:
            _log.info("pinned tools: %s", ", ".join(map(repr, new)))


def shown(name: str) -> str:
    """The name of a withheld tool for the client; one that says something is not repeated."""
    return name if is_plain(name) else notes.NAME_REMOVED


def _remaining_words(bare: Definition) -> list[str]:
    """What a definition says without its description."""
    return words_of({key: value for key, value in bare.items() if key != "description"})


def _withheld(spec: ToolSpec, digest: str, reason: str) -> Tool:
    _log.warning("withheld the tool %r: %s", spec.name[:_SHOWN], reason)
    return Tool(spec=spec, digest=digest, definition=None, refusal=reason)
