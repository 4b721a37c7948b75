"""Agents of the OpenAI Agents SDK for tests, a judge for them, and the ways to run them."""

import asyncio
from collections.abc import Callable
from typing import Any

from agents import (
    Agent,
    Runner,
    RunResult,
    RunState,
)
from agents.testing import ScriptedModel

from taskshield import AsyncShield
from taskshield.core.levels import Level
from tests.integrations.openai_agents.scripted_model import (
    EVE,
    INJECTED,
)
from tests.judging import TableJudge

REFUSED = "Not carried out"
NOTED = "do not serve the user's tasks"


def careful_judge(**more: Any) -> TableJudge:
    """A judge that knows the attacker's address and the injected directive."""
    return TableJudge(
        score=lambda instruction, task: float(EVE not in instruction),
        directives=lambda text: [INJECTED] if INJECTED in text else [],
        **more,
    )


def shield(judge: TableJudge | None = None, **policy: Any) -> AsyncShield:
    return AsyncShield(careful_judge() if judge is None else judge, cache_entries=0, policy=policy)


def agent(model: ScriptedModel, tools: list[Any], **more: Any) -> Agent[Any]:
    return Agent(name=more.pop("name", "Mail"), model=model, tools=tools, **more)


def texts(judge: TableJudge, level: Level) -> list[str]:
    """The judge's input of this level."""
    return [message.text for message in judge.seen if message.level is level]


def goals(judge: TableJudge) -> list[str]:
    """The user's tasks in the judge's last input."""
    return [task.text for task in judge.views[-1].tasks]


Way = Callable[..., Any]


def by_run(guarded: Agent[Any], said: Any, **more: Any) -> RunResult:
    return asyncio.run(Runner.run(guarded, said, **more))


def by_run_sync(guarded: Agent[Any], said: Any, **more: Any) -> RunResult:
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)  # the SDK takes this one, and leaves it open
    try:
        return Runner.run_sync(guarded, said, **more)
    finally:
        asyncio.set_event_loop(None)
        loop.close()


def by_run_streamed(guarded: Agent[Any], said: Any, **more: Any) -> Any:
    async def work() -> Any:
        result = Runner.run_streamed(guarded, said, **more)
        async for _ in result.stream_events():
            pass
        return result

    return asyncio.run(work())


WAYS = [by_run, by_run_sync, by_run_streamed]
ASYNC_WAYS = [by_run, by_run_streamed]


def escalating(judge: TableJudge | None = None, **more: Any) -> AsyncShield:
    return shield(judge, misaligned={"external": "escalate"}, **more)


def decide(result: Any, *, yes: bool, always: bool = False) -> RunState[Any]:
    state: RunState[Any] = result.to_state()
    for interruption in state.get_interruptions():
        if yes:
            state.approve(interruption, always_approve=always)
        else:
            state.reject(interruption)
    return state
