"""LangSmith's runs, as its API and its exports give them: one object for each run.

Runs of models, of tools and of whole chains are read; those of retrievers, parsers and the like are
skipped. `assembly` groups runs into conversations.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime

from taskshield.adapters.parsing.json_reader import Field, filled
from taskshield.adapters.parsing.nested_json import parse_nested
from taskshield.adapters.parsing.tool_output import output_parts
from taskshield.adapters.traces import any_messages, message_parts
from taskshield.adapters.traces.assembly import Piece, StepKind, TraceStep
from taskshield.core.levels import Level
from taskshield.core.messages import Message, ToolCall
from taskshield.core.tools import ToolSpec

_KINDS: Mapping[str, StepKind] = {"llm": "model", "tool": "tool", "chain": "agent"}
_THREADS = ("session_id", "thread_id", "conversation_id")
"""Keys of the metadata by which LangSmith itself knows a conversation."""
_MILLISECONDS = 1e3


def is_run(payload: object) -> bool:
    """Whether this is a run."""
    return isinstance(payload, dict) and "run_type" in payload and "inputs" in payload


def runs(payload: Field) -> Iterator[Field]:
    """A run and the runs within it."""
    yield payload
    for child in payload["child_runs"].elements():
        yield from runs(child)


def read(run: Field) -> Piece | None:
    """The part of a conversation in a run, or None if it holds none.

    Raises:
        WireFormatError: It is not a run; the message names the path.
    """
    kind = _KINDS.get(run["run_type"].text())
    if kind is None or (kind == "agent" and run["parent_run_id"].given):
        return None
    inputs, outputs = (parse_nested(run[key].value, key) for key in ("inputs", "outputs"))
    extra = parse_nested(run["extra"].value, "extra")
    trace = _text(run["trace_id"]) or _text(run["id"])
    thread = _thread(extra)
    start, end = (_time(run[key].value) for key in ("start_time", "end_time"))
    given, answered = _said(kind, run, inputs, outputs)
    step = TraceStep(
        kind=kind,
        id=_text(run["id"]),
        turn=trace,
        start=start,
        end=max(start, end),
        given=given,
        answered=answered,
        tools=_tools(inputs, extra),
    )
    return Piece(group=thread or trace, named=bool(thread), step=step)


def _said(
    kind: StepKind, run: Field, inputs: Field, outputs: Field
) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
    if kind == "tool":
        return _tool_run(run, inputs, outputs)
    given = any_messages.given(inputs)
    if kind == "model":
        return given, any_messages.answered(outputs)
    answered = any_messages.given(outputs) if _has_messages(outputs) else ()
    if answered:  # a graph gives back all messages, those that it was given among them
        return (given, answered[len(given) :]) if _begins(answered, given) else (given, answered)
    return given, any_messages.answered(outputs)


def _tool_run(
    run: Field, inputs: Field, outputs: Field
) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
    output = outputs["output"] if isinstance(outputs.value, dict) else outputs
    body = output
    answers = ""
    if isinstance(output.value, dict):  # a message of LangChain's, in one of its two shapes
        body = output["kwargs"] if isinstance(output["kwargs"].value, dict) else output
        answers = _text(body["tool_call_id"])
        body = body["content"] if body["content"].given else body
    call = ToolCall(
        id=answers or _text(run["id"]),
        name=run["name"].text(),
        arguments=message_parts.written(_arguments(inputs)),
    )
    failed = run["error"].given
    said = Message(
        level=Level.TOOL,
        parts=filled(output_parts(run["error"] if failed and not output.given else body)),
        answers=call.id,
        is_error=failed,
    )
    return (Message(level=Level.ASSISTANT, tool_calls=(call,)),), (said,)


def _arguments(inputs: Field) -> Field:
    """The arguments; a tool that was called with text has it under `input`."""
    if isinstance(inputs.value, dict) and set(inputs.value) == {"input"}:
        return inputs["input"]
    return inputs


def _has_messages(outputs: Field) -> bool:
    return isinstance(outputs.value, dict) and any_messages.is_messages(outputs["messages"].value)


def _begins(messages: tuple[Message, ...], beginning: tuple[Message, ...]) -> bool:
    return [each.text for each in messages[: len(beginning)]] == [each.text for each in beginning]


def _tools(inputs: Field, extra: Field) -> tuple[ToolSpec, ...]:
    places = []
    if isinstance(extra.value, dict) and isinstance(extra["invocation_params"].value, dict):
        places.append(extra["invocation_params"]["tools"])
    if isinstance(inputs.value, dict):
        places.append(inputs["tools"])
    return tuple(spec for place in places for spec in any_messages.tools(place))


def _thread(extra: Field) -> str:
    metadata = extra["metadata"] if isinstance(extra.value, dict) else extra
    if not isinstance(metadata.value, dict):
        return ""
    return next((_text(metadata[key]) for key in _THREADS if metadata[key].given), "")


def _text(field: Field) -> str:
    return field.value if isinstance(field.value, str) else ""


def _time(value: object) -> float:
    """Seconds, of a moment that is written as text or in milliseconds."""
    try:
        if isinstance(value, int | float):
            return value / _MILLISECONDS
        return datetime.fromisoformat(str(value)).timestamp()
    except (ValueError, OverflowError):
        return 0.0
