"""Judges descriptions and instructions of servers: do they try to direct the agent?"""

from collections.abc import Sequence
from typing import Literal

from cachetools import LRUCache

from taskshield.core.levels import Level
from taskshield.core.messages import Message, Text
from taskshield.integrations.mcp.checks.protocols import Checks

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
        self._known: LRUCache[tuple[str, ...], Verdict] = LRUCache(_MOST_VERDICTS)

    async def verdict(self, texts: Sequence[str]) -> Verdict:
        """Whether texts of one origin try to direct the agent."""
        key = tuple(texts)
        if not key:
            return "clean"
        verdict = self._known.get(key)
        if verdict is None:
            parts = tuple(Text(text=text) for text in key)
            decision = await self._checks.about(_TASK).add(Message(level=Level.TOOL, parts=parts))
            if decision.check == "failed":
                return "unchecked"  # not remembered, so that it is checked again
            verdict = self._known[key] = "poisoned" if decision.misaligned else "clean"
        return verdict
