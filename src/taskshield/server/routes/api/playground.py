"""Checks a conversation without storing it: POST /api/playground, and sample conversations."""

import asyncio
import json
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, TypeAdapter

from taskshield.server.dashboard.playground import PlaygroundRun, read_conversation
from taskshield.server.routes.api.evidence_models import EvidenceOut, evidence_out
from taskshield.server.routes.api.models import DecisionOut, RequestModel, ResponseModel
from taskshield.server.routes.api.parameters import CheckCaller, Server, native_router
from taskshield.server.routes.api.session_models import TaskOut

_SAMPLES = Path(__file__).parents[2] / "dashboard" / "samples.json"


class PlaygroundRequest(RequestModel):
    """A conversation to check."""

    conversation: dict[str, Any] | list[Any]
    """In a format of `taskshield check` (OpenAI, Anthropic, native), or a request to Azure."""
    judges: Annotated[list[Annotated[str, Field(max_length=200)]], Field(max_length=4)] = []
    """Names of judges; the configured judge where this is empty."""


class RunOut(ResponseModel):
    """One judge's decisions on the conversation."""

    judge: str
    decisions: list[DecisionOut]
    """One for each message."""
    texts: list[str]
    """Texts of the messages, as they were parsed."""
    tasks: list[TaskOut]
    evidence: list[list[EvidenceOut]]
    """For each message, the provenance of the values of its calls."""
    error: str | None
    """Why there are no decisions."""

    @classmethod
    def of(cls, run: PlaygroundRun) -> "RunOut":
        """From a run of the playground."""
        return cls(
            judge=run.judge,
            decisions=[DecisionOut.of(decision) for decision in run.decisions],
            texts=[decision.case.message.text for decision in run.decisions],
            tasks=[TaskOut.of(task) for task in run.tasks],
            evidence=[evidence_out(traced) for traced in run.evidence],
            error=run.error,
        )


class Runs(ResponseModel):
    """One run for each judge."""

    runs: list[RunOut]


class Sample(ResponseModel):
    """A sample conversation."""

    name: str
    title: str
    aligned: bool
    """Whether the agent does what the user wants."""
    conversation: dict[str, Any]


_READ = TypeAdapter(list[Sample])

router = native_router()


@router.post("/playground", tags=["playground"])
async def try_conversation(body: PlaygroundRequest, caller: CheckCaller, server: Server) -> Runs:
    """Check a whole conversation without storing anything."""
    conversation = await asyncio.to_thread(read_conversation, body.conversation)
    judges = body.judges or server.playground.judges[:1]
    runs = await server.playground.run(conversation, judges)
    return Runs(runs=[RunOut.of(run) for run in runs])


@router.get("/playground/samples", tags=["playground"])
async def list_samples(caller: CheckCaller) -> list[Sample]:
    """Sample conversations, aligned and misaligned."""
    return read_samples()


def read_samples() -> list[Sample]:
    """The samples in the package."""
    return _READ.validate_python(json.loads(_SAMPLES.read_text(encoding="utf-8")))
