"""How the guard is doing: GET /api/stats."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, get_args

from fastapi import Query

from taskshield.core.decisions import Action, Check
from taskshield.core.store import Tally
from taskshield.server.operations import statistics
from taskshield.server.operations.statistics import HourCounts, Latency, NamedCounts
from taskshield.server.routes.api.models import Answer
from taskshield.server.routes.api.parameters import Checker, Server, native_router

_MOST = 10_000
"""Decisions that are looked at, the newest first."""
_LISTED = 20
"""Tools that are listed, those with most to tell first."""


class LlmOut(Answer):
    """What language models cost."""

    calls: int
    tokens: int


class Stats(Answer):
    """How the guard is doing."""

    since: datetime
    complete: bool
    """Whether all decisions since then were counted; otherwise the newest."""
    decisions: int
    """How many were counted."""
    checks: dict[Check, int]
    actions: dict[Action, int]
    latency: Latency
    llm: LlmOut
    by_tool: list[NamedCounts]
    """Those of which most was held back or annotated first."""
    by_tier: list[NamedCounts]
    by_hour: list[HourCounts]
    """In order, hours without a decision too."""


router = native_router()


@router.get("/stats", tags=["server"])
async def get_stats(
    caller: Checker,
    server: Server,
    hours: Annotated[int, Query(ge=1, le=720, description="how far to look back")] = 24,
) -> Stats:
    """What was checked, what was held back, how long it took and what it cost."""
    until = datetime.now(UTC)
    since = until - timedelta(hours=hours)
    tallies = await server.store.tallies(caller.tenant, since=since, limit=_MOST)
    return await asyncio.to_thread(_summed, tallies, since, until)


def _summed(tallies: Sequence[Tally], since: datetime, until: datetime) -> Stats:
    total = statistics.counts(tallies)
    checks: list[Check] = [tally.check for tally in tallies]
    actions: list[Action] = [tally.action for tally in tallies]
    return Stats(
        since=since,
        complete=len(tallies) < _MOST,
        decisions=len(tallies),
        checks={check: checks.count(check) for check in get_args(Check)},
        actions={action: actions.count(action) for action in get_args(Action)},
        latency=statistics.latency(tallies),
        llm=LlmOut(calls=total.llm_calls, tokens=total.llm_tokens),
        by_tool=statistics.by_name(tallies, lambda tally: tally.tools)[:_LISTED],
        by_tier=statistics.by_name(tallies, _tier),
        by_hour=statistics.by_hour(tallies, since, until),
    )


def _tier(tally: Tally) -> tuple[str, ...]:
    return () if tally.tier is None else (tally.tier.value,)
