"""Metrics for Prometheus: which checks ran, what they cost, and the bytes in memory."""

from collections.abc import Callable, Iterator, Mapping

from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from taskshield.core.decisions import LET_THROUGH, Decision
from taskshield.core.store import ApprovalStatus

CONTENT_TYPE = CONTENT_TYPE_LATEST

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_JUDGES = 20
"""Judges with a label of their own; all others share one. A plugin can have any number of names."""


class Metrics(Collector):
    """All metrics of one server, in a registry of its own."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._sizes: list[Callable[[], Mapping[str, int]]] = []
        ProcessCollector(registry=self._registry)
        self._registry.register(self)
        self._judges: set[str] = set()
        self._checks = Counter(
            "taskshield_checks",
            "Messages by the outcome of their check",
            ("surface", "check", "tier", "judge"),
            registry=self._registry,
        )
        self._blocked = Counter(
            "taskshield_blocked",
            "Messages that were blocked, escalated or changed",
            ("surface", "action", "tier", "judge"),
            registry=self._registry,
        )
        self._check_seconds = Histogram(
            "taskshield_check_seconds",
            "Seconds a check by a judge took",
            ("surface", "judge"),
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._llm_calls = Counter(
            "taskshield_llm_calls",
            "Calls to a language model",
            ("judge",),
            registry=self._registry,
        )
        self._llm_tokens = Counter(
            "taskshield_llm_tokens",
            "Tokens that a language model used",
            ("judge", "kind"),
            registry=self._registry,
        )
        self._llm_saved = Counter(
            "taskshield_llm_saved",
            "Checks that needed no language model",
            ("judge",),
            registry=self._registry,
        )
        self._approvals = Counter(
            "taskshield_approvals",
            "Approvals by status",
            ("status",),
            registry=self._registry,
        )
        self._store_errors = Counter(
            "taskshield_store_errors", "Failures of the store", registry=self._registry
        )
        self._requests = Counter(
            "taskshield_requests",
            "Requests by the status of their response",
            ("surface", "status"),
            registry=self._registry,
        )
        self._request_seconds = Histogram(
            "taskshield_request_seconds",
            "Seconds until the end of a response",
            ("surface",),
            buckets=_SECONDS,
            registry=self._registry,
        )

    def show_sizes(self, sizes: Callable[[], Mapping[str, int]]) -> None:
        """Show what this function returns: bytes in memory, by what they are."""
        self._sizes.append(sizes)

    def collect(self) -> Iterator[Metric]:
        """The bytes in memory now, for the registry."""
        held = GaugeMetricFamily(
            "taskshield_memory_bytes",
            "Bytes in memory, roughly, by what they are",
            labels=("kind",),
        )
        for sizes in self._sizes:
            for kind, size in sizes().items():
                held.add_metric((kind,), size)
        yield held

    def count_decision(self, surface: str, decision: Decision) -> None:
        """Count one decision."""
        judge = self._judge(decision.judge)
        tier = decision.tier
        tier_name = "none" if tier is None else tier.value
        self._checks.labels(surface, decision.check, tier_name, judge).inc()
        if decision.action not in LET_THROUGH or decision.action in ("redact", "withhold"):
            self._blocked.labels(surface, decision.action, tier_name, judge).inc()
        if decision.check != "skipped":
            self._check_seconds.labels(surface, judge).observe(decision.elapsed_ms / 1000)
        usage = decision.case.trace.usage
        self._llm_calls.labels(judge).inc(usage.calls)
        self._llm_tokens.labels(judge, "prompt").inc(usage.prompt_tokens)
        self._llm_tokens.labels(judge, "completion").inc(usage.completion_tokens)
        self._llm_saved.labels(judge).inc(usage.saved)

    def count_approval(self, status: ApprovalStatus) -> None:
        """Count an approval that was requested or decided."""
        self._approvals.labels(status).inc()

    def count_store_failure(self) -> None:
        """Count a failure of the store."""
        self._store_errors.inc()

    def count_request(self, surface: str, status: int, seconds: float) -> None:
        """Count a request."""
        self._requests.labels(surface, str(status)).inc()
        self._request_seconds.labels(surface).observe(seconds)

    def render(self) -> bytes:
        """All metrics in the format of Prometheus."""
        return generate_latest(self._registry)

    def _judge(self, name: str) -> str:
        if len(self._judges) < _JUDGES:
            self._judges.add(name)
        return name if name in self._judges else "other"
