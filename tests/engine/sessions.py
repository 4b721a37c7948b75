"""Short ways to run an engine session in tests."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from taskshield.core.decisions import Decision
from taskshield.core.judge import Judge
from taskshield.core.policy import Policy
from taskshield.core.session_state import SessionState
from taskshield.core.tools import ToolSpec
from taskshield.engine.session import EngineSession
from tests.judging import TableJudge

Result = TypeVar("Result")

TOOLS = {
    name: ToolSpec(name=name)
    for name in ("read_file", "write_note", "send_email", "delete_file", "send_money", "share_file")
}


def session(
    judge: Judge | None = None,
    policy: Policy | None = None,
    *,
    system: str = "",
    on_decision: Callable[[Decision], None] | None = None,
) -> EngineSession:
    return EngineSession(
        judge=TableJudge() if judge is None else judge,
        policy=Policy() if policy is None else policy,
        state=SessionState(id="s", system=system, tools=TOOLS),
        on_decision=on_decision,
    )


def run(work: Awaitable[Result]) -> Result:
    async def awaited() -> Result:
        return await work

    return asyncio.run(awaited())


def only(word: str) -> TableJudge:
    """A judge for whom only what names this word serves the user."""
    return TableJudge(score=lambda text, task: float(word in text))
