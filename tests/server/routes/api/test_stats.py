"""Statistics of checks."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskshield.core.errors import JudgeUnavailable
from taskshield.core.store import Tally
from taskshield.core.tools import Tier
from taskshield.server.operations import statistics
from taskshield.stores.memory import MemoryStore
from tests.judging import TableJudge
from tests.server.dashboard.people import hijacked, refusal
from tests.server.stage import served

NOON = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)


def tally(**fields: Any) -> Tally:
    return Tally(
        **{
            "at": NOON,
            "surface": "native",
            "action": "allow",
            "check": "executed",
            "tier": None,
            "tools": (),
            "elapsed_ms": 1.0,
            "llm_calls": 0,
            "llm_tokens": 0,
            **fields,
        }
    )


def test_decisions_are_counted_by_tool_tier_and_hour() -> None:
    with served() as client:
        hijacked(client)
        found = client.get("/api/stats").json()
    assert found["decisions"] == 5 and found["complete"] is True
    assert found["checks"] == {"executed": 5, "skipped": 0, "failed": 0}
    counted = {action: count for action, count in found["actions"].items() if count}
    assert counted == {"allow": 3, "annotate": 1, "revise": 1}
    assert found["llm"] == {"calls": 5, "tokens": 75}
    tools = {each["name"]: each for each in found["by_tool"]}
    assert set(tools) == {"read_file", "send_money", "write_note"}
    assert (tools["send_money"]["blocked"], tools["read_file"]["annotated"]) == (1, 1)
    assert (tools["write_note"]["blocked"], tools["write_note"]["executed"]) == (0, 1)
    assert found["by_tool"][-1]["name"] == "write_note"  # it has least to tell
    assert {each["name"]: each["blocked"] for each in found["by_tier"]}["financial"] == 1
    assert len(found["by_hour"]) == 25
    assert sum(hour["executed"] for hour in found["by_hour"]) == 5
    assert found["latency"]["p50"] <= found["latency"]["p90"] <= found["latency"]["p99"]


def test_failed_checks_are_counted() -> None:
    with served(by=TableJudge(error=JudgeUnavailable("gone"))) as client:
        hijacked(client)
        found = client.get("/api/stats?hours=1").json()
    assert found["checks"]["failed"] == 5
    assert found["latency"] == {"p50": None, "p90": None, "p99": None}
    assert len(found["by_hour"]) == 2


def test_the_number_of_counted_decisions_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("taskshield.server.routes.api.stats._MOST", 3)
    with served() as client:
        hijacked(client)
        found = client.get("/api/stats").json()
    assert (found["decisions"], found["complete"]) == (3, False)


def test_without_texts_no_tool_is_named() -> None:
    with served(MemoryStore(), store_texts=False) as client:
        hijacked(client)
        found = client.get("/api/stats").json()
    assert found["by_tool"] == [] and found["decisions"] == 5


@pytest.mark.parametrize("hours", ["0", "721", "x", "1.5"])
def test_an_invalid_time_range_is_refused(hours: str) -> None:
    with served() as client:
        assert refusal(client.get(f"/api/stats?hours={hours}")) == (400, "invalid_request")


def test_counts() -> None:
    given = [
        tally(action="block"),
        tally(action="revise"),
        tally(action="escalate"),
        tally(action="redact", check="skipped"),
        tally(action="withhold", check="failed", llm_calls=2, llm_tokens=9),
        tally(action="observe"),
    ]
    assert statistics.counts(given) == statistics.Counts(
        executed=4,
        skipped=1,
        failed=1,
        blocked=2,
        escalated=1,
        annotated=2,
        llm_calls=2,
        llm_tokens=9,
    )


@given(st.lists(st.floats(0, 1e6), min_size=1))
def test_latencies_are_among_the_measured_times(times: list[float]) -> None:
    skipped = tally(check="skipped", elapsed_ms=-1.0)
    found = statistics.latency([skipped, *(tally(elapsed_ms=time) for time in times)])
    assert {found.p50, found.p90, found.p99} <= set(times)
    assert found.p99 is not None and min(times) <= found.p99 <= max(times)


def test_hours_without_a_decision_are_listed() -> None:
    late = tally(at=NOON + timedelta(hours=2), tier=Tier.READ)
    found = statistics.by_hour([late, tally()], NOON, NOON + timedelta(hours=3))
    assert [each.executed for each in found] == [1, 0, 1, 0]
    assert found[0].hour == NOON.replace(minute=0)
