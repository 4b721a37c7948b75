"""OpenTelemetry traces, with the attributes of its conventions for generative AI. No content.

The API alone exports nothing. Spans are exported where the application or
`opentelemetry-instrument` has set up a tracer provider, or where the SDK is installed and the usual
variables name an endpoint.
"""

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from opentelemetry import propagate, trace
from opentelemetry.trace import Span, SpanKind, Status, StatusCode

from taskshield._version import __version__
from taskshield.core.decisions import Decision
from taskshield.core.errors import MissingExtraError

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_FLUSH_MS = 5000


def configure() -> None:
    """Export spans where the variables of OpenTelemetry name an endpoint.

    Raises:
        MissingExtraError: An endpoint is named, but the exporter is not installed.
    """
    if not any(os.environ.get(name) for name in _ENDPOINTS):
        return
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ModuleNotFoundError as error:
        raise MissingExtraError(str(error.name), "otel") from None
    resource = Resource.create({"service.name": "taskshield", "service.version": __version__})
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)


def flush() -> None:
    """Export what has not been exported yet: a process that a signal ends would lose it."""
    export = getattr(trace.get_tracer_provider(), "force_flush", None)
    if export is not None:
        export(_FLUSH_MS)


@contextmanager
def request_span(method: str, surface: str, headers: Mapping[str, str]) -> Iterator[Span]:
    """The span of one request, in the trace that its headers name."""
    tracer = trace.get_tracer("taskshield", __version__)
    with tracer.start_as_current_span(
        f"{method} {surface}",
        context=propagate.extract(headers),
        kind=SpanKind.SERVER,
        attributes={"http.request.method": method, "taskshield.surface": surface},
        record_exception=False,
        set_status_on_exception=False,
    ) as span:
        yield span


def record_status(span: Span, status: int) -> None:
    """Add the status of the response to the span of its request."""
    span.set_attribute("http.response.status_code", status)
    if status >= 500:
        span.set_status(Status(StatusCode.ERROR))


def record_decision(surface: str, session: str, decision: Decision) -> None:
    """Add the span of one decision."""
    ended = time.time_ns()
    tracer = trace.get_tracer("taskshield", __version__)
    span = tracer.start_span(
        "evaluate task_adherence",
        start_time=ended - int(decision.elapsed_ms * 1_000_000),
        attributes=_attributes(surface, session, decision),
    )
    if decision.outage is not None:
        span.set_attribute("error.type", decision.outage.kind)
        span.set_status(Status(StatusCode.ERROR))
    span.end(ended)


def _attributes(surface: str, session: str, decision: Decision) -> dict[str, str | int | float]:
    usage = decision.case.trace.usage
    attributes: dict[str, str | int | float] = {
        "gen_ai.operation.name": "evaluate",
        "gen_ai.conversation.id": session,
        "gen_ai.evaluation.name": "task_adherence",
        "gen_ai.evaluation.score.label": decision.action,
        "gen_ai.usage.input_tokens": usage.prompt_tokens,
        "gen_ai.usage.output_tokens": usage.completion_tokens,
        "taskshield.decision.id": decision.id,
        "taskshield.surface": surface,
        "taskshield.level": decision.case.message.level.value,
        "taskshield.check": decision.check,
        "taskshield.judge": decision.judge,
        "taskshield.llm.calls": usage.calls,
    }
    if decision.authorisation is not None:
        attributes["taskshield.authorisation"] = decision.authorisation
    if decision.tier is not None:
        attributes["taskshield.tier"] = decision.tier.value
    totals = [finding.total for finding in decision.findings]
    if totals:
        attributes["gen_ai.evaluation.score.value"] = min(totals)
    return attributes
