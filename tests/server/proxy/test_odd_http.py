"""Odd paths, heads and errors: what cannot be guarded is not passed on."""

import gzip
import json
from typing import Any

import httpx
import pytest

from taskshield.adapters.conversations.response_items import CLIENT_RUN
from taskshield.server.http.errors import RequestError
from taskshield.server.proxy.paths import check_passes, segments_of
from tests.adapters.proxy.streams import Said
from tests.server.providers.scripted import Behaviour, Exchange, Provider, streamed, whole
from tests.server.proxy.agents import MessagesAgent, ResponsesAgent
from tests.server.proxy.odd_answers.edits import BLOCK, CHAT_CALL, ITEM
from tests.server.proxy.stage import EVIL, GOOD, TASK, proxied
from tests.server.proxy.test_faults import STREAMS, WIRES, check_broken, error_of, post, request

CHAT = "/v1/chat/completions"
SAID = Said("Hm.", [GOOD])


@pytest.mark.parametrize(
    "path",
    [
        "/v1/messages%20",
        "/v1/messages%09",
        "/v1/messages%2520",
        "/v1/messages;x=1",
        "/v1/messages%00",
        "/v1/%6Dessages%E2%80%8B",
        "/v1/models/..;/messages",
        "/v1/models%5C..%5Cmessages",
        "/v1/models/%252e%252e/messages",
        "/v1/messages%3F",
        "/v1/messages%23",
    ],
)
def test_a_path_that_servers_read_in_different_ways_is_refused(path: str) -> None:
    with Provider(Said(calls=[EVIL])) as provider, proxied(provider) as proxy:
        answer = httpx.post(proxy.url + path, json=request("/v1/messages", streams=False))
        assert error_of(answer) == (400, "invalid_request")
        assert provider.asked == []


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/v1/completions"),
        ("POST", "/v1/batches"),
        ("POST", "/v1/messages/batches"),
        ("GET", "/v1/messages/batches/b/results"),
        ("POST", "/v1/threads/t/runs"),
        ("GET", "/v1/threads/t/runs/r"),
        ("POST", "/v1/assistants"),
        ("POST", "/v1/realtime/client_secrets"),
        ("POST", "/v1/complete"),
        ("POST", "/v1/responses/resp_1/cancel"),
        ("GET", "/v1/chat/completions/chatcmpl-1"),
        ("GET", "/v1/chat/completions"),
        ("PUT", "/v1/messages"),
        ("POST", "/v1/messages2"),
        ("POST", "/v1/agents"),
        ("GET", "/v1/responses"),
    ],
)
def test_an_answer_that_cannot_be_guarded_is_not_asked_for(method: str, path: str) -> None:
    with Provider(Said(calls=[EVIL])) as provider, proxied(provider) as proxy:
        assert error_of(httpx.request(method, proxy.url + path)) == (400, "not_guarded")
        assert provider.asked == []
    check_passes(method, path.lower(), [path])
    check_passes(method, path.lower(), ["/v1/"])
    with pytest.raises(RequestError):
        check_passes(method, path.lower(), [f"{path}x"])


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/models"),
        ("GET", "/v1/models/meta-llama/Llama-3.1-8B:free"),
        ("POST", "/v1/embeddings"),
        ("POST", "/v1/audio/speech"),
        ("POST", "/v1/messages/count_tokens"),
        ("POST", "/v1/responses/input_tokens"),
        ("POST", "/v1/responses/compact"),
        ("DELETE", "/v1/responses/resp_1"),
        ("GET", "/v1/conversations/conv_1/items"),
        ("GET", "/v1/files/file_1/content"),
        ("OPTIONS", "/v1/messages"),
    ],
)
def test_what_asks_an_agent_for_nothing_passes(method: str, path: str) -> None:
    assert segments_of(path, path.encode())[0] == "v1"
    check_passes(method, path.lower(), [])


def test_a_setting_lets_other_paths_pass() -> None:
    def batch(exchange: Exchange) -> None:
        exchange.send(b"{}")

    given = {"unguarded": ["/v1/batches"]}
    with Provider(batch) as provider, proxied(provider, upstream=given) as proxy:
        assert httpx.post(f"{proxy.url}/v1/batches/b/cancel").status_code == 200
        assert error_of(httpx.post(f"{proxy.url}/v1/batchesx"))[1] == "not_guarded"


def lying(kind: str, *, streams: bool) -> Behaviour:
    """Answer as asked or not, under this content type."""

    def behave(exchange: Exchange) -> None:
        data = whole(exchange.asked, Said("Hm.", [EVIL]))
        if streams:
            data = b"".join(streamed(exchange.asked, Said("Hm.", [EVIL])))
        exchange.send(data, content_type=kind)

    return behave


@WIRES
@pytest.mark.parametrize("asked", [False, True])
@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize(
    "kind",
    [
        "application/json",
        "text/event-stream",
        "text/event-stream; charset=utf-8",
        "TEXT/Event-Stream",
        "x",
    ],
)
def test_a_content_type_that_lies_hides_no_call(
    path: str, asked: bool, streams: bool, kind: str
) -> None:
    with Provider(lying(kind, streams=streams)) as it, proxied(it, policy={"rounds": 0}) as proxy:
        answer = httpx.post(proxy.url + path, json=request(path, streams=asked))
        assert EVIL.id not in answer.text
        if answer.status_code == 200:
            assert "Not carried out" in answer.text or "was stopped" in answer.text
        else:
            assert error_of(answer) == (502, "upstream_invalid")


@pytest.mark.parametrize(
    "headers",
    [
        {"content_type": "application/json; charset=utf-7"},
        {"content_type": 'application/json; charset="UTF-16"'},
        {"content_type": "application/json, text/event-stream"},
        {"content_encoding": "gzip, gzip"},
    ],
)
def test_a_body_that_clients_could_read_in_another_way_is_refused(headers: Any) -> None:
    def behave(exchange: Exchange) -> None:
        exchange.send(whole(exchange.asked, SAID), **headers)

    with Provider(behave) as provider, proxied(provider) as proxy:
        assert error_of(post(proxy, CHAT)) == (502, "upstream_invalid")


@pytest.mark.parametrize(
    "more", [b"", gzip.compress(b"{}", mtime=0), b"x"], ids=["cut", "two", "more"]
)
def test_a_compressed_answer_is_one_whole(more: bytes) -> None:
    def behave(exchange: Exchange) -> None:
        packed = gzip.compress(whole(exchange.asked, SAID))
        exchange.send(packed + more if more else packed[:-9], content_encoding="gzip")

    with Provider(behave) as provider, proxied(provider) as proxy:
        assert error_of(post(proxy, CHAT)) == (502, "upstream_invalid")


@WIRES
@STREAMS
@pytest.mark.parametrize("code", [400, 503])
@pytest.mark.parametrize(
    "body",
    [
        {"choices": [{"message": {"tool_calls": [CHAT_CALL]}}]},
        {"content": [BLOCK]},
        {"output": [ITEM]},
        {"error": {"message": "x", "partial": {"items": [ITEM]}}},
        [ITEM],
    ],
)
def test_an_error_holds_no_call(path: str, streams: bool, code: int, body: Any) -> None:
    def failing(exchange: Exchange) -> None:
        data = json.dumps(body).encode()
        if streams:
            data = b"data: " + data + b"\n\n"
        kind = "text/event-stream" if streams else "application/json"
        exchange.send(data, status=code, content_type=kind, retry_after="7")

    with Provider(failing) as provider, proxied(provider) as proxy:
        answer = post(proxy, path, streams=streams)
        assert answer.headers["retry-after"] == "7"
        assert error_of(answer) == (code, "upstream_invalid")


@pytest.mark.parametrize(
    "content",
    [b"", b"<html>Bad gateway</html>", b'{"detail": "busy"}', b'"busy"', b"event: error\ndata: x"],
)
def test_an_error_of_any_other_kind_passes(content: bytes) -> None:
    with (
        Provider(lambda exchange: exchange.send(content, status=503)) as provider,
        proxied(provider) as proxy,
    ):
        answer = post(proxy, CHAT)
        assert (answer.status_code, answer.content) == (503, content)


def test_an_endless_error_is_replaced() -> None:
    with (
        Provider(lambda exchange: exchange.send(b"x" * 2**21, status=500)) as provider,
        proxied(provider) as proxy,
    ):
        assert error_of(post(proxy, CHAT)) == (500, "upstream_invalid")


@WIRES
def test_an_answer_without_its_main_part_is_an_error(path: str) -> None:
    with (
        Provider(lambda exchange: exchange.send(b'{"id": "x"}')) as provider,
        proxied(provider) as proxy,
    ):
        assert error_of(post(proxy, path)) == (502, "upstream_invalid")


@WIRES
@pytest.mark.parametrize("calls", [[], [GOOD]])
def test_a_stream_without_an_end_ends_with_an_error(path: str, calls: Any) -> None:
    last = {CHAT: b'finish_reason": "', "/v1/messages": b"message_delta", "/v1/responses": b""}

    def stops(exchange: Exchange) -> None:
        events = streamed(exchange.asked, Said("I read it.", calls))
        ends = [n for n, event in enumerate(events) if last[path] and last[path] in event]
        exchange.stream()
        exchange.push(*events[: ends[0] if ends else -1])
        exchange.end()

    with Provider(stops) as provider, proxied(provider) as proxy:
        check_broken(post(proxy, path, streams=True), "before its response was complete")


@pytest.mark.parametrize("kind", [MessagesAgent, ResponsesAgent])
@pytest.mark.parametrize("rounds", [0, 1])
def test_texts_of_two_rounds_and_the_note_do_not_run_into_each_other(
    kind: Any, rounds: int
) -> None:
    """Clients join the texts of an answer, as `output_text` of OpenAI's SDK does."""
    script = [Said("Sending.", [EVIL]), Said("Understood.")]
    with Provider(*script) as provider, proxied(provider, policy={"rounds": rounds}) as proxy:
        path = "/v1/messages" if kind is MessagesAgent else "/v1/responses"
        answer = post(proxy, path, streams=True)
        texts = [
            json.loads(line.removeprefix("data: "))
            for line in answer.text.splitlines()
            if line.startswith("data: ") and "text" in line
        ]
        joined = "".join(_delta(each) for each in texts)
        assert joined.startswith("Sending.\n\n")
        assert joined.endswith("\n\nUnderstood." if rounds else '"0 for t1"')


def _delta(event: Any) -> str:
    delta = event.get("delta", "")
    return str(delta.get("text", "")) if isinstance(delta, dict) else str(delta)


@pytest.mark.parametrize("given", [{"previous_response_id": "resp_x"}, {"conversation": "conv_x"}])
@pytest.mark.parametrize(
    "said", [[], [{"type": "function_call_output", "call_id": "c", "output": "x"}]]
)
def test_no_side_effect_follows_a_response_that_was_not_seen_here(given: Any, said: Any) -> None:
    """There is no task that it could serve."""
    answering = Said("Hm.", [GOOD])
    with Provider(answering) as provider, proxied(provider, policy={"rounds": 0}) as proxy:
        body = {"model": "m", "input": said, **given}
        answer = httpx.post(f"{proxy.url}/v1/responses", json=body)
        assert GOOD.id not in answer.text and "Not carried out" in answer.text


def test_an_unknown_item_of_a_conversation_stays_the_same_call() -> None:
    """It is sent back as it came, and the session is found by it."""
    item = {"type": "robot_action", "id": "r1", "call_id": "r1", "where": "to the bill"}
    body = {"id": "resp_1", "object": "response", "status": "completed", "output": [item]}
    assert item["type"] not in CLIENT_RUN
    with (
        Provider(lambda exchange: exchange.send(json.dumps(body).encode())) as provider,
        proxied(provider) as proxy,
    ):
        asked: dict[str, Any] = {
            "model": "m",
            "store": False,
            "input": [{"role": "user", "content": TASK}],
        }
        first = httpx.post(f"{proxy.url}/v1/responses", json=asked)
        assert first.json() == body
        asked["input"] += [item, {"type": "function_call_output", "call_id": "r1", "output": "ok"}]
        second = httpx.post(f"{proxy.url}/v1/responses", json=asked)
        session = "x-taskshield-session"
        assert first.headers[session] == second.headers[session]
