"""Spans and events as instrumentations export them, under the conventions of several years."""

import asyncio
import importlib
import json
from collections.abc import Iterable
from typing import Any

import pytest

from taskshield.adapters.parsing.json_reader import Field
from taskshield.adapters.traces.assembly import Piece, conversations
from taskshield.adapters.traces.otel_genai import is_batch, is_record, read, records
from taskshield.core.errors import WireFormatError
from taskshield.core.messages import Conversation
from tests.adapters.message_tuples import as_tuples

TRACE = "5b8efff798038103d269b633813fc60c"
TASK = {"role": "user", "parts": [{"type": "text", "content": "Summarise my newest mail."}]}
CALL = {
    "role": "assistant",
    "parts": [
        {"type": "reasoning", "content": "The mail comes first."},
        {"type": "tool_call", "id": "c1", "name": "read_mail", "arguments": {"folder": "in"}},
    ],
}
OUTPUT = {
    "role": "tool",
    "parts": [{"type": "tool_call_response", "id": "c1", "response": "Lunch on Friday?"}],
}
ANSWER = {"role": "assistant", "parts": [{"type": "text", "content": "Lunch on Friday."}]}
DONE = [
    ("user", "Summarise my newest mail.", (), None),
    ("assistant", "", ('read_mail({"folder": "in"})',), None),
    ("tool", "Lunch on Friday?", (), "c1"),
    ("assistant", "Lunch on Friday.", (), None),
]


def otlp(value: object) -> dict[str, Any]:
    """A value as OTLP writes it in JSON."""
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case str():
            return {"stringValue": value}
        case list():
            return {"arrayValue": {"values": [otlp(each) for each in value]}}
        case dict():
            return {"kvlistValue": {"values": attributes(value)}}
    return {}


def attributes(values: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": otlp(value)} for key, value in values.items()]


def span(at: int, operation: str, *, events: Iterable[Any] = (), **fields: Any) -> dict[str, Any]:
    values = {"gen_ai.operation.name": operation, **fields.pop("values", {})}
    return {
        "traceId": TRACE,
        "spanId": f"{at:016x}",
        "name": operation,
        "startTimeUnixNano": str(at * 10**9),
        "endTimeUnixNano": str(at * 10**9 + 5),
        "attributes": attributes({key: value for key, value in values.items() if value != ""}),
        "events": list(events),
        **fields,
    }


def chat(at: int, given: object, answered: object, **more: Any) -> dict[str, Any]:
    messages = {"gen_ai.input.messages": given, "gen_ai.output.messages": answered}
    return span(at, "chat", values={**messages, **more})


def batch(*spans: dict[str, Any]) -> dict[str, Any]:
    resource = {"attributes": attributes({"service.name": "mailbot"})}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": list(spans)}]}]}


def pieces(payload: object) -> list[Piece]:
    found = (read(record) for record in records(Field(value=payload, key="record")))
    return [piece for piece in found if piece is not None]


def only(payload: object) -> Conversation:
    (conversation,) = conversations(pieces(payload))
    return conversation


@pytest.mark.parametrize("written", [json.dumps, lambda value: value], ids=["text", "structure"])
def test_two_calls_of_a_model_are_one_conversation(written: Any) -> None:
    first = chat(1, written([TASK]), written([CALL]))
    second = chat(3, written([TASK, CALL, OUTPUT]), written([ANSWER]))
    assert as_tuples(only(batch(second, first))) == DONE


def test_a_trace_is_known_by_the_conversation_that_it_belongs_to() -> None:
    named = {"gen_ai.conversation.id": "conv_7"}
    (piece,) = pieces(batch(chat(1, [TASK], [CALL], **named)))
    assert (piece.group, piece.named) == ("conv_7", True)
    (piece,) = pieces(batch(chat(1, [TASK], [CALL])))
    assert (piece.group, piece.named) == (TRACE, False)


def test_tools_and_instructions_are_read() -> None:
    tool = {"type": "function", "name": "read_mail", "description": "Reads a mail."}
    more = {
        "gen_ai.tool.definitions": [tool],
        "gen_ai.system_instructions": [{"type": "text", "content": "You help with mail."}],
    }
    found = only(batch(chat(1, [TASK], [CALL], **more)))
    assert [spec.name for spec in found.tools] == ["read_mail"]
    assert as_tuples(found)[0] == ("system", "You help with mail.", (), None)


def test_instructions_that_are_bare_text() -> None:
    found = only(batch(chat(1, [TASK], [CALL], **{"gen_ai.system_instructions": "You help."})))
    assert as_tuples(found)[0] == ("system", "You help.", (), None)


def test_an_invalid_time_is_no_error() -> None:
    first = chat(1, [TASK, CALL, OUTPUT], [ANSWER])
    assert (
        as_tuples(only(batch({**first, "startTimeUnixNano": "soon", "endTimeUnixNano": None})))
        == DONE
    )


def test_output_of_a_tool_in_a_message_of_the_user_is_not_the_users() -> None:
    output = {**OUTPUT, "role": "user"}
    assert as_tuples(only(batch(chat(1, [TASK, CALL, output], [ANSWER])))) == DONE


def test_a_tool_run_adds_output_that_no_model_call_holds() -> None:
    run = span(
        2,
        "execute_tool",
        values={
            "gen_ai.tool.name": "read_mail",
            "gen_ai.tool.call.id": "c1",
            "gen_ai.tool.call.arguments": '{"folder":"in"}',
            "gen_ai.tool.call.result": "Lunch on Friday?",
        },
    )
    assert as_tuples(only(batch(run, chat(1, [TASK], [CALL])))) == DONE[:3]


def test_an_agents_span_is_read_where_models_left_no_messages() -> None:
    agent = chat(1, [TASK], [ANSWER])
    agent["attributes"][0]["value"] = otlp("invoke_agent")
    agent["endTimeUnixNano"] = str(9 * 10**9)
    run = span(
        2,
        "execute_tool",
        values={
            "gen_ai.tool.name": "read_mail",
            "gen_ai.tool.call.id": "c1",
            "gen_ai.tool.call.arguments": {"folder": "in"},
            "gen_ai.tool.call.result": {"subject": "Lunch on Friday?"},
        },
    )
    assert as_tuples(only(batch(run, span(3, "chat"), agent))) == DONE


def test_other_spans_are_skipped() -> None:
    query = {**span(1, "SELECT"), "attributes": attributes({"db.system": "sqlite"})}
    assert pieces(batch(query, span(2, "embeddings"))) == []


def test_a_span_without_content_is_a_piece_without_messages() -> None:
    (piece,) = pieces(batch(span(1, "chat")))
    assert piece.step.messages == ()


def test_tools_that_the_provider_ran_are_calls_with_outputs() -> None:
    code = {"type": "code_interpreter", "code": "print(95)"}
    parts = [
        {"type": "server_tool_call", "id": "s1", "name": "python", "server_tool_call": code},
        {
            "type": "server_tool_call_response",
            "id": "s1",
            "server_tool_call_response": {"type": "code_interpreter", "outputs": ["95"]},
        },
        {"type": "text", "content": "It is 95."},
    ]
    found = as_tuples(only(batch(chat(1, [TASK], [{"role": "assistant", "parts": parts}]))))
    assert [level for level, *_ in found] == ["user", "assistant", "tool", "assistant"]
    assert found[2] == ("tool", "95", (), "s1")


def test_pictures_are_reported_as_unreadable() -> None:
    picture = {"type": "blob", "modality": "image", "content": "aGk="}
    message = {"role": "user", "parts": [picture, {"type": "text", "content": "What is it?"}]}
    first = only(batch(chat(1, [message], [ANSWER]))).messages[0]
    assert (first.text, first.unreadable) == ("What is it?", ("blob",))


def old_event(at: int, name: str, body: dict[str, Any]) -> dict[str, Any]:
    """An event of the conventions up to 1.36, as a log record."""
    return {
        "timeUnixNano": str(at),
        "eventName": name,
        "body": otlp(body),
        "attributes": attributes({"gen_ai.system": "openai"}),
        "traceId": TRACE,
        "spanId": "00f067aa0ba902b7",
    }


OLD_CALL = {"id": "c1", "type": "function"} | {
    "function": {"name": "read_mail", "arguments": '{"folder": "in"}'}
}
OLD_EVENTS: list[tuple[str, dict[str, Any]]] = [
    ("gen_ai.system.message", {"content": "You help."}),
    ("gen_ai.user.message", {"content": "Summarise my newest mail."}),
    ("gen_ai.assistant.message", {"tool_calls": [OLD_CALL]}),
    ("gen_ai.tool.message", {"content": "Lunch on Friday?", "id": "c1"}),
    (
        "gen_ai.choice",
        {"index": 0, "finish_reason": "stop", "message": {"content": "Lunch on Friday."}},
    ),
]
OLD_DONE = [("system", "You help.", (), None), *DONE]


def test_events_of_the_older_conventions_as_log_records() -> None:
    found = [old_event(at, *event) for at, event in enumerate(OLD_EVENTS)]
    logs = {"resourceLogs": [{"scopeLogs": [{"logRecords": found}]}]}
    assert is_batch(logs)
    assert as_tuples(only(logs)) == OLD_DONE


@pytest.mark.parametrize("wrapped", [True, False])
def test_events_of_the_older_conventions_in_a_span(wrapped: bool) -> None:
    events = []
    for at, (name, body) in enumerate(OLD_EVENTS):
        held = {"gen_ai.event.content": json.dumps(body)} if wrapped else body
        events.append({"timeUnixNano": str(at), "name": name, "attributes": attributes(held)})
    assert as_tuples(only(batch(span(1, "chat", events=events)))) == OLD_DONE


def test_a_choice_that_is_text() -> None:
    values = {"message": '{"answer": "Lunch"}'}
    events = [{"name": "gen_ai.choice", "attributes": attributes(values)}]
    asked = {"gen_ai.input.messages": [TASK]}
    found = only(batch(span(1, "chat", events=events, values=asked)))
    assert as_tuples(found)[-1] == ("assistant", '{"answer": "Lunch"}', (), None)


def test_details_in_an_event_of_their_own() -> None:
    messages = {"gen_ai.input.messages": [TASK, CALL, OUTPUT], "gen_ai.output.messages": [ANSWER]}
    name = "gen_ai.client.inference.operation.details"
    event = {"name": name, "attributes": attributes(messages)}
    assert as_tuples(only(batch(span(1, "chat", events=[event])))) == DONE


def test_what_a_span_and_its_event_both_hold_is_said_once() -> None:
    messages = {"gen_ai.input.messages": [TASK, CALL, OUTPUT], "gen_ai.output.messages": [ANSWER]}
    record = old_event(1, "gen_ai.client.inference.operation.details", {})
    record["attributes"] = attributes(messages)
    both = span(1, "chat", values=messages, spanId=record["spanId"])
    logs = {"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]}
    (found,) = conversations([*pieces(batch(both)), *pieces(logs)])
    assert as_tuples(found) == DONE


def test_numbered_attributes_of_before_the_conventions() -> None:
    values = {
        "gen_ai.prompt.0.role": "user",
        "gen_ai.prompt.0.content": "Summarise my newest mail.",
        "gen_ai.prompt.1.role": "assistant",
        "gen_ai.prompt.1.tool_calls.0.id": "c1",
        "gen_ai.prompt.1.tool_calls.0.name": "read_mail",
        "gen_ai.prompt.1.tool_calls.0.arguments": '{"folder": "in"}',
        "gen_ai.prompt.2.role": "tool",
        "gen_ai.prompt.2.tool_call_id": "c1",
        "gen_ai.prompt.2.content": "Lunch on Friday?",
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.content": "Lunch on Friday.",
        "gen_ai.completion.0.finish_reason": "stop",
    }
    found = {**span(1, "chat"), "attributes": attributes(values)}
    assert as_tuples(only(batch(found))) == DONE


def test_a_span_by_itself() -> None:
    found = chat(1, [TASK, CALL, OUTPUT], [ANSWER])
    assert is_record(found) and not is_batch(found)
    piece = read(Field(value=found, key="record"))
    assert piece is not None
    assert as_tuples(conversations([piece])[0]) == DONE


def test_truncated_messages_are_not_read_as_the_users_text() -> None:
    cut = json.dumps([TASK, CALL, OUTPUT])[:-20]
    with pytest.raises(WireFormatError, match="may have been cut short"):
        pieces(batch(chat(1, cut, [ANSWER])))


@pytest.mark.parametrize(
    "message",
    [
        {"role": "wizard", "parts": []},
        {"role": "user", "parts": [{"type": "tool_call", "name": "pay"}]},
        {"role": "user", "parts": "words"},
    ],
)
def test_values_that_are_no_messages_are_refused(message: dict[str, Any]) -> None:
    with pytest.raises(WireFormatError):
        pieces(batch(chat(1, [message], [])))


def test_real_spans_of_an_instrumented_agent() -> None:
    """What Pydantic AI exports, through OpenTelemetry's own SDK and encoder."""
    from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
    from pydantic_ai import Agent
    from pydantic_ai.capabilities import Instrumentation
    from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import AgentInfo, FunctionModel
    from pydantic_ai.models.instrumented import InstrumentationSettings

    as_dict = importlib.import_module("google.protobuf.json_format").MessageToDict  # no types
    script: list[Any] = [
        ToolCallPart("read_mail", {"folder": "in"}, "c1"),
        TextPart("Lunch on Friday."),
    ]

    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[script.pop(0)])

    exported = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exported))
    tracing = Instrumentation(InstrumentationSettings(tracer_provider=provider))
    agent = Agent(FunctionModel(model), capabilities=[tracing])

    @agent.tool_plain
    def read_mail(folder: str) -> str:
        return "Lunch on Friday?"

    asyncio.run(agent.run("Summarise my newest mail."))
    assert as_tuples(only(as_dict(encode_spans(exported.get_finished_spans())))) == DONE
