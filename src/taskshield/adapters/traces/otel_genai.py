"""OpenTelemetry spans and events of generative AI, as OTLP JSON.

Reads the conventions as they are now (messages as attributes of spans, or of the event
`gen_ai.client.inference.operation.details`), those up to version 1.36 (an event for each message,
in the span or as a log record), and what was common before (`otel_numbered`). Other spans
are skipped. `assembly` groups spans into conversations.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from taskshield.adapters.parsing.json_reader import Field
from taskshield.adapters.parsing.nested_json import parse_nested
from taskshield.adapters.parsing.tool_output import output_parts
from taskshield.adapters.traces import any_messages, message_parts, otel_numbered
from taskshield.adapters.traces.assembly import Piece, StepKind, TraceStep
from taskshield.core.levels import Level
from taskshield.core.messages import Message, ToolCall, text_message
from taskshield.core.tools import ToolSpec

_BATCHES = (
    ("resourceSpans", ("scopeSpans", "instrumentationLibrarySpans"), "spans"),
    ("resourceLogs", ("scopeLogs", "instrumentationLibraryLogs"), "logRecords"),
)
"""How spans and log records are nested; the second name is an older one."""
_KINDS: Mapping[str, StepKind] = {
    "chat": "model",
    "generate_content": "model",
    "text_completion": "model",
    "invoke_agent": "agent",
    "execute_tool": "tool",
}
_DETAILS = "gen_ai.client.inference.operation.details"
_EVENTS = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
"""The older events and whose message each is."""
_CHOICE = "gen_ai.choice"
_CONTENT = "gen_ai.event.content"
"""An attribute in which the older events of spans, which have no body, keep it as JSON text."""
_ARGUMENTS = "gen_ai.tool.call.arguments"
_RESULT = "gen_ai.tool.call.result"
_NANOSECONDS = 1e9


def is_batch(payload: object) -> bool:
    """Whether this is a batch of spans or log records, as an exporter sends or writes it."""
    return isinstance(payload, dict) and any(outer in payload for outer, _, _ in _BATCHES)


def is_record(payload: object) -> bool:
    """Whether this is a span or a log record by itself."""
    return isinstance(payload, dict) and "traceId" in payload and "attributes" in payload


def records(payload: Field) -> Iterator[Field]:
    """The spans and log records of a batch."""
    for outer, scopes, inner in _BATCHES:
        for resource in payload[outer].elements():
            for key in scopes:
                for scope in resource[key].elements():
                    yield from scope[inner].elements()


def read(record: Field) -> Piece | None:
    """The part of a conversation in a span or a log record, or None if it holds none.

    Raises:
        WireFormatError: It is not in this format; the message names the path.
    """
    attributes = _Attributes(_named_values(record["attributes"]))
    name = record["eventName"].text_or("") or attributes.text("event.name")
    body = Field(value=_value(record["body"]), key="body")
    events = [(name, body)] if name else []
    events += [_event(event) for event in record["events"].elements()]
    kind = _KINDS.get(attributes.text("gen_ai.operation.name"))
    given, answered = attributes.given(), attributes.answered()
    has_messages = any(name in _EVENTS or name in (_CHOICE, _DETAILS) for name, _ in events)
    if kind is None and not given and not answered and not has_messages:
        return None
    named = attributes.text("gen_ai.conversation.id")
    trace = record["traceId"].text_or("")
    step = TraceStep(
        kind="model" if kind is None else kind,
        id=record["spanId"].text_or(""),
        turn=trace,
        start=_time(record, "startTimeUnixNano", "timeUnixNano", "observedTimeUnixNano"),
        end=_time(record, "endTimeUnixNano", "timeUnixNano", "observedTimeUnixNano"),
        given=given or tuple(one for event in events for one in _given(*event)),
        answered=answered or tuple(one for event in events for one in _answered(*event)),
        tools=attributes.tools(),
    )
    return Piece(group=named or trace, named=bool(named), step=step)


@dataclass(frozen=True, slots=True)
class _Attributes:
    """The attributes of a span, by name."""

    values: Mapping[str, object]

    def text(self, name: str) -> str:
        value = self.values.get(name)
        return value if isinstance(value, str) else ""

    def field(self, name: str) -> Field:
        """A structured value, which may be written as JSON text."""
        return parse_nested(self.values.get(name), name)

    def given(self) -> tuple[Message, ...]:
        """What the model or the tool was given."""
        messages = any_messages.given(self.field("gen_ai.input.messages"))
        before = any_messages.given(self._numbered(otel_numbered.PROMPT))
        return (*self._instructions(), *(messages or before), *self._tool_call())

    def answered(self) -> tuple[Message, ...]:
        """What the model said or the tool returned."""
        messages = any_messages.answered(self.field("gen_ai.output.messages"))
        before = any_messages.answered(self._numbered(otel_numbered.COMPLETION))
        return (*(messages or before), *self._tool_result())

    def tools(self) -> tuple[ToolSpec, ...]:
        return any_messages.tools(self.field("gen_ai.tool.definitions"))

    def _numbered(self, prefix: str) -> Field:
        return Field(value=otel_numbered.messages(self.values, prefix), key=prefix)

    def _instructions(self) -> Iterator[Message]:
        parts = self.field("gen_ai.system_instructions")
        if isinstance(parts.value, str):
            yield text_message(Level.SYSTEM, parts.value)
        elif parts.given:
            yield message_parts.instructions(parts)

    def _tool_call(self) -> Iterator[Message]:
        """The call that a tool was run for, where its content was recorded."""
        arguments = Field(value=self.values.get(_ARGUMENTS), key=_ARGUMENTS)
        name = self.text("gen_ai.tool.name")
        if name and (arguments.given or _RESULT in self.values):
            id, written = self.text("gen_ai.tool.call.id"), message_parts.written(arguments)
            call = ToolCall(id=id, name=name, arguments=written)
            yield Message(level=Level.ASSISTANT, tool_calls=(call,))

    def _tool_result(self) -> Iterator[Message]:
        if _RESULT in self.values:
            # JSON text is not parsed: the agent received it as text.
            parts = tuple(output_parts(Field(value=self.values[_RESULT], key=_RESULT)))
            answers = self.text("gen_ai.tool.call.id") or None
            yield Message(level=Level.TOOL, parts=parts, answers=answers)


def _event(event: Field) -> tuple[str, Field]:
    """The name and the body of an event in a span, whose attributes are its body."""
    values = _named_values(event["attributes"])
    content = parse_nested(values.get(_CONTENT), _CONTENT).value
    body = {**values, **content} if isinstance(content, dict) else dict(values)
    return event["name"].text_or(""), Field(value=body, key="body")


def _given(name: str, body: Field) -> Iterable[Message]:
    if name == _DETAILS and isinstance(body.value, dict):
        return _Attributes(body.mapping()).given()
    if name not in _EVENTS or not isinstance(body.value, dict):
        return ()
    return any_messages.given(_chat(body, _EVENTS[name]))


def _answered(name: str, body: Field) -> Iterable[Message]:
    if name == _DETAILS and isinstance(body.value, dict):
        return _Attributes(body.mapping()).answered()
    if name != _CHOICE or not isinstance(body.value, dict):
        return ()
    message = body["message"].value
    inner = parse_nested(message, "message")
    if isinstance(message, str) and not _is_message(inner.value):
        return (text_message(Level.ASSISTANT, message),)
    return any_messages.answered(_chat(inner if inner.given else body, "assistant"))


def _is_message(value: object) -> bool:
    """Whether this is a message, and not an answer that happens to be JSON."""
    return isinstance(value, dict) and any(key in value for key in ("content", "tool_calls"))


def _chat(body: Field, role: str) -> Field:
    """The body of an event as a message of OpenAI's, which it nearly is."""
    values = body.mapping()
    message = {
        "role": role,
        "content": values.get("content"),
        "tool_calls": parse_nested(values.get("tool_calls"), "tool_calls").value,
        "tool_call_id": values.get("id"),
    }
    return Field(value=message, key="body")


def _time(record: Field, *names: str) -> float:
    """Seconds; nanoseconds are written as text, because JSON's numbers cannot hold them."""
    for name in names:
        value = record[name].value
        if value is not None:
            try:
                return float(str(value)) / _NANOSECONDS
            except ValueError:
                return 0.0
    return 0.0


def _named_values(attributes: Field) -> Mapping[str, object]:
    return {
        attribute["key"].text(): _value(attribute["value"]) for attribute in attributes.elements()
    }


def _value(field: Field) -> object:
    """A value of OTLP as plain JSON."""
    if not isinstance(field.value, dict):
        return field.value
    for key, value in field.value.items():
        if key == "arrayValue":
            return [_value(element) for element in field[key]["values"].elements()]
        if key == "kvlistValue":
            return _named_values(field[key]["values"])
        if key.endswith("Value"):
            return value
    return None
