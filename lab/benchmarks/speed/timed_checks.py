"""Replays conversations through a real session with the embedded judge and times each check."""

import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random
from statistics import median
from typing import Literal

from long_output import Material
from stage_times import MODEL, Stopwatch, clear_caches

from taskshield import AsyncSession, AsyncShield, Level, Message, ToolCall
from taskshield.adapters.traces.agentdojo_runs import RecordedRun
from taskshield.core.messages import text_message
from taskshield.judges.embedded.network.model import shared
from taskshield_lab.bench.scripts.recorded_tools import tools_of

Kind = Literal["user", "tool calls", "text", "tool output"]
"""tool calls: a message of the agent with calls. text: one without."""
KINDS: tuple[Kind, ...] = ("user", "tool calls", "text", "tool output")

POSITIONS = ((1, 5), (6, 10), (11, 20), (21, 60), (61, 120))
"""Steps of a long conversation that share a median."""
_OUTPUT = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One check."""

    kind: Kind
    ms: float
    size: int
    """Bytes of the message's text."""
    stages: dict[str, float]
    """Milliseconds."""
    passes: tuple[int, ...]
    """Tokens of each forward pass."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """Checks of many conversations."""

    checks: tuple[Check, ...]
    failed: int
    """Checks that were outages."""


async def replay(runs: Sequence[RecordedRun]) -> Replay:
    """Check every message of these runs. Skipped checks are not counted.

    The first run is replayed once before all others, as a warm-up.
    """
    checks: list[Check] = []
    failed = 0
    watch = Stopwatch()
    with watch.timing(shared()):
        async with _shield() as shield:
            for warm, run in [(False, runs[0]), *((True, run) for run in runs)]:
                clear_caches(shared())
                session = shield.session(system=run.system, tools=tools_of(run))
                for message in run.messages:
                    found, outcome = await _check(session, message, watch)
                    failed += warm and outcome == "failed"
                    if warm and outcome == "executed":
                        checks.append(found)
    return Replay(checks=tuple(checks), failed=failed)


async def _check(
    session: AsyncSession, message: Message, watch: Stopwatch
) -> tuple[Check, Literal["executed", "skipped", "failed"]]:
    watch.reset()
    started = time.perf_counter()
    decision = await session.add(message)
    taken = time.perf_counter() - started
    check = Check(
        kind=_kind(message),
        ms=taken * 1000,
        size=len(message.text.encode("utf-8", "replace")),
        stages=watch.stages(taken),
        passes=tuple(watch.passes),
    )
    return check, decision.check


def _kind(message: Message) -> Kind:
    if message.level is Level.USER:
        return "user"
    if message.level is Level.TOOL:
        return "tool output"
    return "tool calls" if message.tool_calls else "text"


async def long_session(material: Material, steps: int) -> dict[str, object]:
    """Measure whether checks slow down in a long conversation, and whether output is read twice.

    The first step has no earlier output, and from about the 60th step on a session drops old
    outputs. The number of forward passes depends on the contents of the outputs only.
    """
    rng = Random(steps)
    watch = Stopwatch()
    calls: list[Check] = []
    outputs: list[str] = []
    segmented = 0
    with watch.timing(shared()):
        async with _shield() as shield:
            session = shield.session()
            await session.user("Go through my notes one by one and list all open points for me.")
            for number in range(1, steps + 1):
                check, _ = await _check(session, _call(number, outputs, rng), watch)
                calls.append(check)
                segmented += _bytes(text for text in watch.segmented if text in outputs)
                outputs.append(material.output(_OUTPUT, rng))
                answer = text_message(Level.TOOL, outputs[-1])
                await _check(session, _tool_message(answer, number), watch)
                segmented += _bytes(text for text in watch.segmented if text in outputs)
    return {
        "steps": steps,
        "median_ms_of_tool_calls": _by_position([check.ms for check in calls]),
        "median_ms_beside_the_model": _by_position(
            [check.ms - check.stages[MODEL] for check in calls]
        ),
        "output_bytes": _bytes(outputs),
        "segmented_bytes": segmented,
        "segmented_per_byte": round(segmented / _bytes(outputs), 3),
    }


def _by_position(times: Sequence[float]) -> dict[str, float]:
    return {
        f"{first}-{last}": round(median(times[first - 1 : last]), 2)
        for first, last in POSITIONS
        if len(times) >= first
    }


def _call(number: int, outputs: Sequence[str], rng: Random) -> Message:
    """A call with a value from an earlier output."""
    words = rng.choice(outputs).split() if outputs else ["open", "points"]
    at = rng.randrange(max(1, len(words) - 3))
    arguments = {"title": f"note-{number}.txt", "query": " ".join(words[at : at + 3])}
    call = ToolCall(id=f"c{number}", name="read_note", arguments=json.dumps(arguments))
    return Message(level=Level.ASSISTANT, tool_calls=(call,))


def _tool_message(message: Message, number: int) -> Message:
    return Message(level=message.level, parts=message.parts, answers=f"c{number}")


async def seconds_for_output(text: str) -> float:
    """How long the check of one tool output takes."""
    clear_caches(shared())
    async with _shield() as shield:
        session = shield.session()
        await session.user("Read the file and list what is in it.")
        await session.add(_call(1, (), Random(1)))
        message = _tool_message(text_message(Level.TOOL, text), 1)
        started = time.perf_counter()
        decision = await session.add(message)
        if decision.check != "executed":
            raise RuntimeError("The output was not checked.")
        return time.perf_counter() - started


def _shield() -> AsyncShield:
    """A shield without a cache, so that each check runs, and with a time limit for large output."""
    return AsyncShield(judge="embedded", cache_entries=0, timeout_s=600)


def _bytes(texts: Iterable[str]) -> int:
    return sum(len(text.encode("utf-8", "replace")) for text in texts)
