"""Cases for the tests of the engine's pure parts."""

from collections.abc import Sequence
from dataclasses import replace

from taskshield.core.assessments import AssessedInstruction, Score, Trace
from taskshield.core.decisions import Case
from taskshield.core.instructions import Span
from taskshield.core.levels import Level
from taskshield.core.messages import ToolCall, text_message
from taskshield.core.policy import Policy
from taskshield.core.tools import Tier


def case(text: str, *assessed: AssessedInstruction, policy: Policy | None = None) -> Case:
    return Case(
        id="id",
        message=replace(text_message(Level.TOOL, text), answers="c1"),
        index=3,
        policy=Policy() if policy is None else policy,
        check="executed",
        assessed=assessed,
        trace=Trace(judge="test"),
    )


def score(target: str, value: float) -> Score:
    return Score(target=target, value=value, reason=f"{value:g} for {target}")


def step(
    *assessed: AssessedInstruction,
    names: Sequence[str],
    text: str = "",
    policy: Policy | None = None,
) -> Case:
    """A step that calls these tools; the ids of the calls are c1, c2, ..."""
    calls = tuple(
        ToolCall(id=f"c{number}", name=name, arguments="{}")
        for number, name in enumerate(names, start=1)
    )
    message = replace(text_message(Level.ASSISTANT, text), tool_calls=calls)
    return replace(
        case("", *assessed, policy=policy),
        message=message,
        tiers={name: Tier.WRITE for name in names},
    )


def misaligned(start: int | None, end: int = 0) -> AssessedInstruction:
    span = None if start is None else Span(start=start, end=end)
    return AssessedInstruction(text="obey", span=span, scores=())
