"""Reads what servers say about themselves, for words that try to direct the agent."""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Literal

from taskshield.core.levels import Level
from taskshield.core.messages import Message, Text
from taskshield.integrations.mcp.checking import Checks

Verdict = Literal["clean", "poisoned", "unchecked"]

_WISH = "Show me which tools there are, and tell me what each of them does and how it is called."
"""What somebody wants who reads the descriptions of tools: an instruction that serves nothing of
the kind has no business there."""
_REMEMBERED = 2_000
"""Verdicts that are kept."""


class Reviewer:
    """Judges texts, the same ones once."""

    def __init__(self, checks: Checks) -> None:
        self._checks = checks
        self._known: OrderedDict[tuple[str, ...], Verdict] = OrderedDict()

    async def verdict(self, texts: Sequence[str]) -> Verdict:
        """Whether texts of one origin try to direct whoever reads them."""
        key = tuple(texts)
        if not key:
            return "clean"
        if key not in self._known:
            parts = tuple(Text(text=text) for text in key)
            decision = await self._checks.about(_WISH).add(Message(level=Level.TOOL, parts=parts))
            if decision.check == "failed":
                return "unchecked"  # the next time, it may be checked
            self._remember(key, "poisoned" if decision.misaligned else "clean")
        return self._known[key]

    def _remember(self, key: tuple[str, ...], verdict: Verdict) -> None:
        self._known[key] = verdict
        if len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)
