import pytest
from starlette.requests import Request
from starlette.testclient import TestClient

from taskshield.server.http.errors import RequestError
from taskshield.server.http.json_body import json_body
from taskshield.server.http.open_bodies import OpenBodies
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


def test_open_requests_share_their_bytes() -> None:
    limits = LimitSettings(open_bytes=1_000)
    bodies = OpenBodies(limits)
    bodies.hold(600)
    with pytest.raises(RequestError) as caught:
        bodies.hold(600)
    assert (caught.value.problem.status, caught.value.problem.code) == (503, "busy")
    assert caught.value.problem.headers["retry-after"] == "1"
    assert (bodies.bytes, bodies.incomplete) == (600, 0)
    bodies.release(600)
    bodies.hold(1_000)


def test_answers_of_providers_share_the_bytes_of_open_requests() -> None:
    bodies = OpenBodies(LimitSettings(open_bytes=1_000))
    bodies.hold(300)
    bodies.hold_answer(600)
    with pytest.raises(RequestError):
        bodies.hold_answer(600)
    assert (bodies.bytes, bodies.answers) == (900, 600)
    bodies.release(300, 600)
    assert (bodies.bytes, bodies.answers) == (0, 0)


def test_bytes_are_released_when_a_request_ends_however_it_ends() -> None:
    with served(limits={"open_bytes": 3_000, "body_bytes": 2_000}) as client:
        for body in (b" " * 1_900 + b"{}", b"[" * 1_900, b" " * 1_999 + b"{}", b"{}") * 5:
            assert post(client, body)[0] in (201, 400, 413)
        assert post(client, b" " * 1_900 + b"{}")[0] == 201


def test_other_surfaces_say_that_the_server_is_busy_in_their_own_words() -> None:
    with served(limits={"open_bytes": 10}) as client:
        body = {"messages": [{"role": "user", "content": "hello"}]}
        azure = "/contentsafety/agent:analyzeTaskAdherence?api-version=2024-12-15-preview"
        answers = [client.post(path, json=body) for path in ("/v1/chat/completions", azure)]
        assert [answer.status_code for answer in answers] == [503, 503]
        assert answers[0].json()["error"]["type"] == "api_error"
        assert answers[1].json()["error"]["code"] == "ServerBusy"
        assert all(answer.headers["retry-after"] == "1" for answer in answers)
