"""Judges what servers offer: do descriptions, names and instructions try to direct the agent?"""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeVar

import anyio.to_thread
from cachetools import LRUCache

from taskshield.core.errors import WireFormatError
from taskshield.core.levels import Level
from taskshield.core.messages import Message, Text, digest
from taskshield.integrations.mcp.checks.protocols import Checks
from taskshield.integrations.mcp.words.offers import sentences_of

_log = logging.getLogger(__name__)

_T = TypeVar("_T")

Verdict = Literal["clean", "poisoned", "unchecked"]

_TASK = "Show me which tools there are, and tell me what each of them does and how it is called."
"""The task of someone who reads descriptions of tools. Instructions in a description that do not
serve this task are misaligned."""
_MOST_VERDICTS = 2_000
"""Most verdicts in memory."""


class Reviewer:
    """Judges texts, and remembers the verdicts."""

    def __init__(self, checks: Checks) -> None:
        self._checks = checks
        self._known: LRUCache[str, Verdict] = LRUCache(_MOST_VERDICTS)

    async def verdict(self, texts: Sequence[str]) -> Verdict:
        """Whether texts of one origin try to direct the agent."""
        if not texts:
            return "clean"
        key = digest(*texts)
        verdict = self._known.get(key)
        if verdict is None:
            parts = tuple(Text(text=text) for text in texts)
            decision = await self._checks.about(_TASK).add(Message(level=Level.TOOL, parts=parts))
            if decision.check == "failed":
                return "unchecked"  # not remembered, so that it is checked again
            verdict = self._known[key] = "poisoned" if decision.misaligned else "clean"
        return verdict

    async def about(self, offer: _T, words: Callable[[_T], list[str]] = sentences_of) -> Verdict:
        """Whether anything in an offer tries to direct the agent.

        Args:
            offer: A tool, a prompt, a list: what a server offers.
            words: Reads the offer.
        """
        try:
            # In a thread, because other clients must not wait for a long list.
            return await self.verdict(await anyio.to_thread.run_sync(words, offer))
        except WireFormatError:
            return "unchecked"

    async def without_poison(self, page: Mapping[str, Any], *, keeping: str) -> dict[str, Any]:
        """A page of a list without what tries to direct the agent beside its items.

        Args:
            page: The page.
            keeping: The member with the items, which are not reviewed here.
        """
        beside = {
            key: value
            for key, value in page.items()
            if key != keeping and not _is_state(key, value)
        }
        if await self.about(beside) == "clean":
            return dict(page)
        _log.warning("withheld what the wrapped server says beside a list")
        return {key: value for key, value in page.items() if key not in beside}


def _is_state(key: str, value: object) -> bool:
    """Whether a member says how long the list is valid."""
    match key:
        case "ttlMs":
            return isinstance(value, int | float)
        case "cacheScope":
            return value in ("private", "public")
        case _:
            return key == "resultType" and value == "complete"
