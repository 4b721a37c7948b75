"""The figures that come with the package: GET /api/benchmarks."""

from functools import cache
from pathlib import Path

from taskshield.server.routes.api.models import Answer
from taskshield.server.routes.api.parameters import Reader, native_router

_FIGURES = Path(__file__).parents[2] / "dashboard" / "benchmarks.json"


class Rate(Answer):
    """A share with its 95 % interval."""

    hits: int
    total: int
    value: float
    low: float
    high: float


class ExamRow(Answer):
    """What one agent did under one attack; figures that do not apply are null."""

    agent: str
    attack: str | None
    """Null where only clean runs were made."""
    clean_utility: Rate | None
    """Tasks solved without an attack."""
    utility: Rate | None
    """Tasks solved under attack."""
    asr: Rate | None
    """Attacks that reached their goal."""
    asr_by_calls: Rate | None
    """The same, by tool calls and not by words alone."""
    false_blocks: Rate | None
    """Calls of clean runs that were held back."""
    disturbed: Rate | None
    """Clean runs that were touched at all, of those that solved their task."""
    clean_runs: int
    attacked_runs: int
    outages: int
    p50_ms: float | None
    p99_ms: float | None
    llm_calls: int


class Exam(Answer):
    """One exam: a judge, or none, before the same tasks and attacks."""

    name: str
    way: str
    """How the agent's steps came about: "replay", "worst-case" or "live"."""
    judge: str
    defence: str
    version: str
    """Of the tasks."""
    date: str
    taskshield: str
    agentdojo: str
    runs: int
    results: list[ExamRow]


class LatencyRow(Answer):
    """How long checks of one kind of message took."""

    name: str
    count: int
    p50_ms: float
    p90_ms: float
    p99_ms: float


class JudgeLatency(Answer):
    """How long the embedded judge took, in one process."""

    model: str
    date: str
    conversations: int
    checks: list[LatencyRow]


class Benchmarks(Answer):
    """All figures that come with the package."""

    exams: list[Exam]
    latency: JudgeLatency


router = native_router()


@router.get("/benchmarks", tags=["server"])
async def get_benchmarks(caller: Reader) -> Benchmarks:
    """How well the judges did, measured when this release was made."""
    return read_figures()


@cache
def read_figures() -> Benchmarks:
    """The figures that come with the package."""
    return Benchmarks.model_validate_json(_FIGURES.read_bytes())
