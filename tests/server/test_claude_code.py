"""POST /hooks/claude-code: the status is always 200, and nothing passes unchecked."""

import json
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient

from taskshield.core.errors import JudgeUnavailable
from taskshield.core.tools import Tier
from taskshield.stores.memory import MemoryStore
from tests.adapters.claude_code.test_events import PLANTED, PROMPT, failure, judge, result, use
from tests.engine.sessions import run
from tests.server.listening import in_thread, person
from tests.server.stage import Failing, Hanging, keyed, served

PATH = "/hooks/claude-code"
EVIL = use("mcp__bank__pay", {"to": "Eve"}, tool_use_id="toolu_2")


def answered(client: TestClient | httpx.Client, event: object, **headers: str) -> Any:
    """The reply to an event. Claude Code ignores replies with another status than 200."""
    answer = client.post(PATH, json=event, headers=headers)
    assert answer.status_code == 200
    assert answer.headers["x-taskshield-check"] in ("executed", "skipped", "failed", "none")
    return answer.json()


def permission(answer: Any) -> str:
    decision: str = answer["hookSpecificOutput"]["permissionDecision"]
    return decision


def stopped(answer: Any) -> str:
    """The reason for which the agent stops."""
    assert answer["continue"] is False
    reason: str = answer["stopReason"]
    return reason


@pytest.mark.shows("Claude Code", "user turn", "tool call", "tool output", "feedback")
def test_a_session_over_http() -> None:
    with (
        in_thread(judge(), MemoryStore()) as server,
        person(server) as client,
    ):
        assert answered(client, PROMPT) == {}
        assert answered(client, use()) == {}
        noted = answered(client, result(f"paid. {PLANTED}"))["hookSpecificOutput"]
        assert PLANTED in noted["additionalContext"]
        refused = answered(client, EVIL)
        assert permission(refused) == "deny"
        assert "Pay Bob." in refused["hookSpecificOutput"]["permissionDecisionReason"]
        assert answered(client, {"hook_event_name": "Stop", "session_id": "s"}) == {}
        session = client.get("/api/sessions/s").json()
        records = client.get("/api/decisions", params={"surface": "claude-code"}).json()["items"]
    assert (session["messages"], len(records)) == (4, 4)
    assert {"Bash", "Read"} <= set(session["tools"])


@pytest.mark.shows("Claude Code", "HITL")
def test_an_escalated_call_asks_the_user() -> None:
    policy = {"misaligned": {tier.value: "escalate" for tier in Tier}}
    with served(by=judge(), policy=policy) as client:
        answered(client, PROMPT)
        assert permission(answered(client, EVIL)) == "ask"


def test_redaction_replaces_the_output() -> None:
    with served(by=judge(), policy={"output": "redact"}) as client:
        answered(client, PROMPT)
        answered(client, use())
        shown = answered(client, result({"stdout": f"ok {PLANTED}", "stderr": ""}))
        assert PLANTED not in shown["hookSpecificOutput"]["updatedToolOutput"]["stdout"]


def test_an_outage_denies_the_call_and_allows_the_users_message() -> None:
    down = judge()
    with served(by=down) as client:
        down.error = JudgeUnavailable("down")
        assert answered(client, PROMPT) == {}
        assert permission(answered(client, EVIL)) == "deny"


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"\xff", b'{"hook_event_name": "PreToolUse"}', b"[" * 1_000]
)
def test_an_event_that_cannot_be_read_stops_everything(content: bytes) -> None:
    with served() as client:
        answer = client.post(PATH, content=content, headers={"content-type": "application/json"})
        assert answer.status_code == 200 and stopped(answer.json())
        assert answer.headers["x-taskshield-check"] == "failed"


def test_a_request_that_is_not_authorized_stops() -> None:
    store = MemoryStore()
    key = run(keyed(store, "check", per_minute=1))
    with served(store) as client:
        assert "API key" in stopped(answered(client, PROMPT))
        assert "unknown" in stopped(answered(client, PROMPT, Authorization="Bearer tsk_wrong"))
        assert answered(client, PROMPT, Authorization=f"Bearer {key}") == {}
        assert "in one minute" in stopped(answered(client, EVIL, Authorization=f"Bearer {key}"))


def test_limits_and_wrong_addresses_stop() -> None:
    with served(limits={"body_bytes": 10}) as client:
        assert "10 bytes" in stopped(answered(client, PROMPT))
    with served(by=Hanging(), limits={"request_s": 0.05}) as client:
        assert "0.05 seconds" in stopped(answered(client, PROMPT))
    with served() as client:
        wrong = client.post("/hooks/claude_code", json=PROMPT)
        assert wrong.status_code == 200 and stopped(wrong.json())


@pytest.mark.parametrize(
    ("event", "blocked"),
    [
        (PROMPT, lambda answer: answer["decision"] == "block"),
        (EVIL, lambda answer: permission(answer) == "deny"),
        (
            result("output"),
            lambda answer: "output" not in answer["hookSpecificOutput"]["updatedToolOutput"],
        ),
        (failure("error"), lambda answer: answer["continue"] is False),
    ],
)
def test_an_unavailable_store_stops_the_event(event: Any, blocked: Any) -> None:
    store = Failing()
    with served(store, by=judge()) as client:
        store.gone = True
        answer = answered(client, event)
        assert blocked(answer), answer
        assert "Nothing was decided." in json.dumps(answer)
        assert "secret-detail" not in json.dumps(answer)
        assert answered(client, {"hook_event_name": "Stop"}) == {}
        store.gone = False
        assert "taskshield_store_errors_total 1.0" in client.get("/metrics").text


def test_an_exception_in_a_handler_stops_the_event() -> None:
    class Broken(MemoryStore):
        async def session(self, tenant: str, id: str) -> Any:
            raise ZeroDivisionError("canary")

    with served(Broken()) as client:
        answer = answered(client, EVIL)
        assert permission(answer) == "deny" and "canary" not in json.dumps(answer)


def test_a_session_that_cannot_be_resumed_stops() -> None:
    store = MemoryStore()
    with served(store, by=judge(), store_texts=False) as client:
        answered(client, PROMPT)
    with served(store, by=judge(), store_texts=False) as client:
        answer = answered(client, EVIL)
        assert permission(answer) == "deny" and "cannot be resumed" in json.dumps(answer)


def test_tenants_may_use_the_same_session_ids() -> None:
    store = MemoryStore()
    ours, theirs = (run(keyed(store, "check", tenant=tenant)) for tenant in ("ours", "theirs"))
    with served(store, by=judge()) as client:
        answered(client, PROMPT, Authorization=f"Bearer {ours}")
        assert answered(client, use(), Authorization=f"Bearer {ours}") == {}
        refused = answered(client, use(), Authorization=f"Bearer {theirs}")
        assert permission(refused) == "deny"  # the other tenant has no task


def test_an_unpaired_surrogate_does_not_break_the_response() -> None:
    with served(by=judge()) as client:
        answered(client, PROMPT)
        body = json.dumps(EVIL).replace("Eve", "Eve \\ud83d")
        answer = client.post(PATH, content=body, headers={"content-type": "application/json"})
        assert permission(answer.json()) == "deny" and answer.content.isascii()
