"""Bodies that are small on the wire and huge in memory are refused on every surface alike."""

import json
from typing import Any

import pytest
from starlette.testclient import TestClient

from taskshield.stores.memory import MemoryStore
from tests.engine.sessions import run
from tests.server.stage import TENANT, checker, served

PLACES = {
    "native": "/api/sessions/s/messages",
    "sessions": "/api/sessions",
    "playground": "/api/playground",
    "verdict": "/api/approvals/a/approve",
    "azure": "/contentsafety/agent:analyzeTaskAdherence?api-version=2024-12-15-preview",
    "agent-hooks": "/contentsafety/agent:evaluate?api-version=2026-11-01-preview"
    "&targetResourceId=r",
    "claude-code": "/hooks/claude-code",
    "chat": "/v1/chat/completions",
    "responses": "/v1/responses",
    "anthropic": "/v1/messages",
    "login": "/page/login",
}
LIMITS = {"values": 4_000, "keys": 50, "messages": 100, "parts": 20, "tools": 30, "depth": 20}
MESSAGE = {"role": "user", "content": "hello"}
BODIES: dict[str, tuple[int, Any]] = {
    "values": (413, {"messages": [[]] * 5_000}),
    "numbers": (413, {"x": [0] * 5_000}),
    "keys": (413, {"messages": [{str(number): 0 for number in range(60)}]}),
    "messages": (413, {"messages": [MESSAGE] * 101}),
    "input": (413, {"input": [MESSAGE] * 101}),
    "parts": (413, {"messages": [{**MESSAGE, "content": [[]] * 21}]}),
    "calls": (413, {"messages": [{**MESSAGE, "tool_calls": [{}] * 21}]}),
    "tools": (413, {"messages": [MESSAGE], "tools": [{}] * 31}),
    "depth": (400, {"messages": [json.loads("[" * 30 + "]" * 30)]}),
    "wrong": (400, {"messages": [[]] * 99, "input": [[]] * 99}),
}


def post(client: TestClient, path: str, body: bytes) -> Any:
    headers = {"content-type": "application/json", "origin": "http://127.0.0.1:8787"}
    return client.post(path, content=body, headers=headers)


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("place", PLACES)
def test_every_surface_refuses_it_in_a_few_words(place: str, body: str) -> None:
    status, content = BODIES[body]
    store = MemoryStore()
    run(checker(store).create_session(TENANT, id="s"))
    with served(store, limits=LIMITS) as client:
        answer = post(client, PLACES[place], json.dumps(content).encode())
    assert len(answer.content) < 1_000
    if place == "claude-code":  # every reply has the status 200, and stops the agent
        assert answer.status_code == 200 and answer.json()["continue"] is False
    else:
        assert answer.status_code == status


def test_a_conversation_in_the_playground_is_counted_like_a_body() -> None:
    with served(limits=LIMITS) as client:
        for conversation in ([MESSAGE] * 101, {"messages": [MESSAGE] * 101}):
            body = json.dumps({"conversation": conversation}).encode()
            answer = post(client, PLACES["playground"], body)
            assert (answer.status_code, answer.json()["error"]["code"]) == (
                413,
                "too_many_messages",
            )


def test_only_the_first_errors_of_a_body_are_collected() -> None:
    with served() as client:
        body = json.dumps({"messages": [{"level": "user", "parts": [1] * 1_000}] * 100})
        answer = post(client, PLACES["native"], body.encode())
        assert answer.status_code == 400
        assert answer.json()["error"]["message"].startswith("body.messages[0].parts[0]")
