import pytest
from starlette.requests import Request
from starlette.testclient import TestClient

from taskshield.server.http.errors import RequestError
from taskshield.server.http.json_body import json_body
from taskshield.settings import LimitSettings
from taskshield.stores.memory import MemoryStore
from tests.engine.sessions import run
from tests.server.stage import TENANT, Hanging, checker, served, user, wire

POST = {"type": "http", "method": "POST", "state": {"limits": LimitSettings()}}


def post(client: TestClient, body: bytes, kind: str = "application/json") -> tuple[int, str]:
    answer = client.post("/api/sessions", content=body, headers={"content-type": kind})
    return answer.status_code, answer.json().get("error", {}).get("code")


def test_a_body_that_is_too_long_is_refused_however_it_is_sent() -> None:
    with served(limits={"body_bytes": 1_000}) as client:
        assert post(client, b" " * 990 + b"{}")[0] == 201
        assert post(client, b" " * 999 + b"{}") == (413, "too_large")
        chunks = (b" " * 100 for _ in range(11))
        answer = client.post(
            "/api/sessions", content=chunks, headers={"content-type": "application/json"}
        )
        assert answer.status_code == 413
        assert post(client, b" " * 1_001, "text/plain") == (413, "too_large")


def test_a_body_that_is_nested_too_deep_is_refused() -> None:
    with served(limits={"depth": 10}) as client:
        nested = b'{"tools": ' + b"[" * 10 + b"]" * 10 + b"}"
        assert post(client, nested) == (400, "too_deep")
        assert post(client, nested, "Application/JSON") == (400, "too_deep")
        assert post(client, b"[" * 100_000) == (400, "too_deep")
        assert post(client, b'{"id": "' + b"[" * 50 + b'"}') == (400, "invalid_request")


def test_too_many_messages_are_refused() -> None:
    with served(limits={"messages": 2}) as client:
        client.post("/api/sessions", json={"id": "s"})
        answer = client.post("/api/sessions/s/messages", json={"messages": wire(*[user()] * 3)})
        assert (answer.status_code, answer.json()["error"]["code"]) == (413, "too_many_messages")


def test_a_request_that_takes_too_long_is_ended() -> None:
    store = MemoryStore()
    run(checker(store).create_session(TENANT, id="s"))
    with served(store, by=Hanging(), limits={"request_s": 0.2}) as client:
        answer = client.post("/api/sessions/s/messages", json={"messages": wire(user())})
        assert (answer.status_code, answer.json()["error"]["code"]) == (504, "timeout")
    assert run(checker(store).finder.newest(TENANT, "s")).state.messages == 0


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded"])
def test_only_json_is_accepted(kind: str) -> None:
    with served() as client:
        assert post(client, b"{}", kind) == (400, "invalid_request")


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[" * 100_000, b"1" * 10_000])
def test_an_invalid_json_body_is_refused(body: bytes) -> None:
    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": body}

    with pytest.raises(RequestError, check=lambda error: error.problem.status == 400):
        run(json_body(Request(POST, receive)))


def test_a_body_that_is_json_is_read() -> None:
    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": b'{"a": [1]}'}

    request = Request(POST, receive)
    assert run(json_body(request)) == {"a": [1]}
