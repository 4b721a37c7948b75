"""Langfuse's observations, as its API and its exports give them: one object for each.

The API writes `traceId` where exports to a blob store write `trace_id`. Generations, tools and the
outermost observations of a trace are read; all others are skipped. `assembly` groups observations
into conversations.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime

from taskshield.adapters.parsing.json_reader import Field, filled
from taskshield.adapters.parsing.nested_json import parse_nested
from taskshield.adapters.parsing.tool_output import output_parts
from taskshield.adapters.traces import any_messages, message_parts
from taskshield.adapters.traces.assembly import Piece, StepKind, TraceStep
from taskshield.core.levels import Level
from taskshield.core.messages import Message, ToolCall
from taskshield.core.tools import ToolSpec

_KINDS: Mapping[str, StepKind] = {
    "GENERATION": "model",
    "TOOL": "tool",
    "AGENT": "agent",
    "CHAIN": "agent",
    "SPAN": "agent",
}
_TRACE = ("traceId", "trace_id")
_SESSION = ("sessionId", "session_id")
_PARENT = ("parentObservationId", "parent_observation_id")
_START = ("startTime", "start_time")
_END = ("endTime", "end_time")
"""The names of the API and of exports."""
_TYPES = frozenset({*_KINDS, "EVENT", "RETRIEVER", "EVALUATOR", "GUARDRAIL", "EMBEDDING"})


def is_observation(payload: object) -> bool:
    """Whether this is an observation."""
    if not isinstance(payload, dict):
        return False
    kind = payload.get("type")
    return isinstance(kind, str) and kind in _TYPES and _is_of_trace(payload)


def is_trace(payload: object) -> bool:
    """Whether this is a trace with its observations."""
    return isinstance(payload, dict) and isinstance(payload.get("observations"), list)


def is_other_export(payload: object) -> bool:
    """Whether this is another row of an export: a score, or a trace without observations."""
    if not isinstance(payload, dict):
        return False
    score = {"name", "value"} <= payload.keys() and _is_of_trace(payload)
    return score or {"id", "name", "timestamp", "input", "output"} <= payload.keys()


def observations(trace: Field) -> Iterator[Field]:
    """The observations of a trace, each with what is known of the trace."""
    known = {"traceId": trace["id"].value, "sessionId": trace["sessionId"].value}
    for observation in trace["observations"].elements():
        given = {key: value for key, value in observation.mapping().items() if value is not None}
        yield replace(observation, value={**known, **given})


def read(observation: Field) -> Piece | None:
    """The part of a conversation in an observation, or None if it holds none.

    Raises:
        WireFormatError: It is not an observation; the message names the path.
    """
    kind = _KINDS.get(observation["type"].text())
    if kind is None or (kind == "agent" and _text(observation, *_PARENT)):
        return None
    trace, session = _text(observation, *_TRACE), _text(observation, *_SESSION)
    start, end = (_time(_text(observation, *names)) for names in (_START, _END))
    given, answered = _said(kind, observation)
    step = TraceStep(
        kind=kind,
        id=_text(observation, "id"),
        turn=trace,
        start=start,
        end=max(start, end),
        given=given,
        answered=answered,
        tools=_tools(observation),
    )
    return Piece(group=session or trace, named=bool(session), step=step)


def _is_of_trace(payload: Mapping[str, object]) -> bool:
    return any(key in payload for key in _TRACE)


def _said(kind: StepKind, observation: Field) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
    if kind == "tool":
        return _tool_run(observation)
    given = any_messages.given(parse_nested(observation["input"].value, "input"))
    return given, any_messages.answered(parse_nested(observation["output"].value, "output"))


def _tool_run(observation: Field) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
    call = ToolCall(
        id=_text(observation, "id"),
        name=observation["name"].text(),
        arguments=message_parts.written(observation["input"]),
    )
    output = parse_nested(observation["output"].value, "output")
    content = output["content"] if _is_message(output.value) else observation["output"]
    failed = _text(observation, "level") == "ERROR"
    said = Message(
        level=Level.TOOL,
        parts=filled(output_parts(content if content.given else observation["statusMessage"])),
        answers=call.id,
        is_error=failed,
    )
    return (Message(level=Level.ASSISTANT, tool_calls=(call,)),), (said,)


def _is_message(output: object) -> bool:
    """Whether a tool's output was recorded as the message that the agent got."""
    return isinstance(output, dict) and {"content", "tool_call_id"} <= output.keys()


def _tools(observation: Field) -> tuple[ToolSpec, ...]:
    given = parse_nested(observation["input"].value, "input")
    return any_messages.tools(given["tools"]) if isinstance(given.value, dict) else ()


def _text(field: Field, *names: str) -> str:
    found = (field[name].value for name in names)
    return next((value for value in found if isinstance(value, str)), "")


def _time(text: str) -> float:
    """Seconds. Exports write times in UTC without a time zone."""
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return 0.0
