import json
import logging

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from taskshield.core.errors import JudgeUnavailable
from taskshield.server.operations.logs import JsonLines, log
from tests.judging import TableJudge
from tests.server.stage import Failing, call, served, user, wire

CANARY = "the canary sings"
PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    return exporter


def check(by: TableJudge | None = None) -> None:
    with served(by=by) as client:
        client.post("/api/sessions", json={"id": "s"})
        client.post(
            "/api/sessions/s/messages",
            json={"messages": wire(user(CANARY), call("send_money", path=f"evil {CANARY}"))},
            headers={"traceparent": PARENT},
        )


def told(spans: InMemorySpanExporter, name: str) -> list[ReadableSpan]:
    return [span for span in spans.get_finished_spans() if span.name == name]


def test_decisions_are_evaluations_in_the_trace_of_the_client(spans: InMemorySpanExporter) -> None:
    check()
    (_, money) = told(spans, "evaluate task_adherence")
    assert money.attributes is not None and money.context is not None
    assert money.attributes["gen_ai.evaluation.name"] == "task_adherence"
    assert money.attributes["gen_ai.evaluation.score.label"] == "revise"
    assert money.attributes["gen_ai.evaluation.score.value"] == 0.0
    assert money.attributes["gen_ai.conversation.id"] == "s"
    assert money.attributes["gen_ai.usage.input_tokens"] == 10
    assert money.attributes["taskshield.authorisation"] == "unasked"
    assert money.attributes["taskshield.tier"] == "financial"
    asked = told(spans, "POST native")[-1]
    assert asked.context is not None and money.parent is not None
    assert f"{asked.context.trace_id:032x}" == PARENT.split("-")[1]
    assert money.parent.span_id == asked.context.span_id
    assert asked.attributes is not None
    assert asked.attributes["http.response.status_code"] == 200


def test_no_span_contains_conversation_text(spans: InMemorySpanExporter) -> None:
    check()
    assert CANARY not in "".join(span.to_json() for span in spans.get_finished_spans())


def test_an_outage_is_an_error_in_the_trace(spans: InMemorySpanExporter) -> None:
    check(TableJudge(error=JudgeUnavailable("gone")))
    for span in told(spans, "evaluate task_adherence"):
        assert span.attributes is not None and span.attributes["error.type"] == "unavailable"
        assert span.status.status_code.name == "ERROR"


def lines(caplog: pytest.LogCaptureFixture) -> list[dict[str, object]]:
    return [json.loads(JsonLines().format(record)) for record in caplog.records]


def test_logs_name_events_without_conversation_text(caplog: pytest.LogCaptureFixture) -> None:
    store = Failing()
    with caplog.at_level(logging.INFO, "taskshield"), served(store) as client:
        client.post("/api/sessions", json={"id": "s"})
        body = {"messages": wire(user(CANARY))}
        answer = client.post("/api/sessions/s/messages", json=body)
        store.gone = True
        client.post("/api/sessions/s/messages", json=body)
    written = lines(caplog)
    asked = next(line for line in written if line.get("id") == answer.headers["x-request-id"])
    assert (asked["event"], asked["route"], asked["status"]) == (
        "request",
        "/api/sessions/{session}/messages",
        200,
    )
    failed = next(line for line in written if line["event"] == "failed")
    assert (failed["error"], failed["level"]) == ("StoreError", "error")
    assert any("checker.py" in str(frame) for frame in list(failed["raised_at"]))  # type: ignore[call-overload]
    everything = json.dumps(written)
    assert CANARY not in everything and "secret-detail" not in everything


def test_messages_of_libraries_are_logged_without_their_values(
    caplog: pytest.LogCaptureFixture,
) -> None:
    library = logging.getLogger("library")
    library.warning("cannot read %s", CANARY)
    library.error(f"Task exception was never retrieved\nfuture: {CANARY}")
    assert [line["event"] for line in lines(caplog)] == [
        "cannot read %s",
        "Task exception was never retrieved",
    ]


def test_a_log_line_is_one_json_object(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "taskshield"):
        log("two\nlines", number=1)
    (line,) = lines(caplog)
    assert (line["event"], line["number"], line["level"]) == ("two\nlines", 1, "info")
    assert "\n" not in JsonLines().format(caplog.records[0])
