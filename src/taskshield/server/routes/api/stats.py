"""Statistics of checks: GET /api/stats."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, get_args

from fastapi import Query

from taskshield.core.decisions import Action, Check
from taskshield.core.store import Tally
from taskshield.server.operations import statistics
from taskshield.server.operations.statistics import HourCounts, Latency, NamedCounts
from taskshield.server.routes.api.models import ResponseModel
from taskshield.server.routes.api.parameters import CheckCaller, Server, native_router

_MOST = 10_000
"""Decisions that are counted, the newest first."""
_LISTED = 20
"""Tools that are listed."""


class LlmOut(ResponseModel):
    """What language models used."""

    calls: int
    tokens: int


class Stats(ResponseModel):
    """Statistics of checks."""

    since: datetime
    complete: bool
    """Whether all decisions since then were counted, or only the newest."""
    decisions: int
    """Number of decisions that were counted."""
    checks: dict[Check, int]
    actions: dict[Action, int]
    latency: Latency
    llm: LlmOut
    by_tool: list[NamedCounts]
    """The tools with the most blocked, escalated or annotated decisions first."""
    by_tier: list[NamedCounts]
    by_hour: list[HourCounts]
    """In order, with hours that have no decision."""


router = native_router()


@router.get("/stats", tags=["server"])
async def get_stats(
    caller: CheckCaller,
    server: Server,
    hours: Annotated[int, Query(ge=1, le=720, description="hours to look back")] = 24,
) -> Stats:
    """What was checked and blocked, how long checks took and what they cost."""
    until = datetime.now(UTC)
    since = until - timedelta(hours=hours)
    tallies = await server.store.tallies(caller.tenant, since=since, limit=_MOST)
    return await asyncio.to_thread(_stats, tallies, since, until)


def _stats(tallies: Sequence[Tally], since: datetime, until: datetime) -> Stats:
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
