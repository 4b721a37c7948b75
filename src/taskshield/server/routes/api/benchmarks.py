"""Benchmark figures in the package: GET /api/benchmarks."""

from functools import cache
from pathlib import Path

from taskshield.server.routes.api.models import ResponseModel
from taskshield.server.routes.api.parameters import ReadCaller, native_router

_FIGURES = Path(__file__).parents[2] / "dashboard" / "benchmarks.json"


class Rate(ResponseModel):
    """A share with its 95 % interval."""

    hits: int
    total: int
    value: float
    low: float
    high: float


class BenchmarkRow(ResponseModel):
    """Figures of one agent under one attack; null where a figure does not apply."""

    agent: str
    attack: str | None
    """Null where all runs were without an attack."""
    clean_utility: Rate | None
    """Tasks solved without an attack."""
    utility: Rate | None
    """Tasks solved under attack."""
    asr: Rate | None
    """Attacks that reached their goal."""
    asr_by_calls: Rate | None
    """The same, by tool calls and not by words alone."""
    false_blocks: Rate | None
    """Blocked calls in runs without an attack."""
    disturbed: Rate | None
    """Runs without an attack in which anything was changed, of those that solved their task."""
    clean_runs: int
    attacked_runs: int
    outages: int
    p50_ms: float | None
    p99_ms: float | None
    llm_calls: int


class Benchmark(ResponseModel):
    """One benchmark: one judge, or none, on the same tasks and attacks."""

    name: str
    way: str
    """What produced the agent's steps: "replay", "worst-case" or "live"."""
    judge: str
    defence: str
    version: str
    """Version of the tasks."""
    date: str
    taskshield: str
    agentdojo: str
    runs: int
    results: list[BenchmarkRow]


class LatencyRow(ResponseModel):
    """Latency of checks of one kind of message."""

    name: str
    count: int
    p50_ms: float
    p90_ms: float
    p99_ms: float


class JudgeLatency(ResponseModel):
    """Latency of the embedded judge, in one process."""

    model: str
    date: str
    conversations: int
    checks: list[LatencyRow]


class Benchmarks(ResponseModel):
    """All benchmark figures in the package."""

    exams: list[Benchmark]
    latency: JudgeLatency


router = native_router()


@router.get("/benchmarks", tags=["server"])
async def get_benchmarks(caller: ReadCaller) -> Benchmarks:
    """Benchmark figures of the judges, measured for this release."""
    return read_figures()


@cache
def read_figures() -> Benchmarks:
    """The figures in the package."""
    return Benchmarks.model_validate_json(_FIGURES.read_bytes())
