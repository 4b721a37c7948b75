"""Failures: the outcomes that docs/proxy.md promises."""

import asyncio
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import anthropic
import httpx
import openai
import pytest

from taskshield.core.assessments import Assessment
from taskshield.core.judge import SessionView
from taskshield.core.messages import Message
from tests.adapters.proxy.sdks import payloads
from tests.adapters.proxy.streams import Said
from tests.judging import TableJudge
from tests.server.listening import Gated, Listening
from tests.server.providers.scripted import (
    PATHS,
    PATIENCE_S,
    Behaviour,
    Exchange,
    Provider,
    status,
    streamed,
    whole,
)
from tests.server.proxy.agents import AGENTS, Agent, ChatAgent, MessagesAgent, ResponsesAgent
from tests.server.proxy.stage import EVIL, GOOD, TASK, proxied
from tests.server.stage import Failing

WIRES = pytest.mark.parametrize("path", PATHS)
STREAMS = pytest.mark.parametrize("streams", [False, True])
SAID = Said("I read it.", [GOOD])


def request(path: str, *, streams: bool, task: str = TASK) -> dict[str, Any]:
    asked: dict[str, Any] = {"model": "m", "stream": streams}
    if path == "/v1/responses":
        return {**asked, "input": task}
    return {**asked, "messages": [{"role": "user", "content": task}]}


def post(proxy: Listening, path: str, *, streams: bool = False) -> httpx.Response:
    return httpx.post(proxy.url + path, json=request(path, streams=streams), timeout=PATIENCE_S)


def error_of(answer: httpx.Response) -> tuple[int, str]:
    """Status and code of an error that both SDKs can read."""
    body = answer.json()
    assert body["type"] == "error" and body["error"]["message"]
    return answer.status_code, body["error"]["code"]


def check_broken(answer: httpx.Response, said: str) -> None:
    """A stream with an error of its format at the end, and no call in it."""
    assert answer.status_code == 200
    assert GOOD.name not in answer.text and EVIL.name not in answer.text
    last = payloads(answer.content)[-1]
    assert last.get("type") in (None, "error", "response.failed")
    assert said in json.dumps(last)


def broken_off(exchange: Exchange) -> None:
    """Begin an answer, and close the connection in the middle of a call."""
    if exchange.asked.body["stream"]:
        exchange.stream()
        exchange.push(*streamed(exchange.asked, SAID)[:-3])
    else:
        data = whole(exchange.asked, SAID)
        exchange.begin(data[: len(data) // 2], length=len(data))
    exchange.hang_up()


def ended_early(exchange: Exchange) -> None:
    """End an answer properly, but in the middle of a call."""
    if exchange.asked.body["stream"]:
        exchange.stream()
        exchange.push(*streamed(exchange.asked, SAID)[:-3])
        exchange.end()
    else:
        data = whole(exchange.asked, SAID)
        exchange.send(data[: len(data) // 2])


def garbage(exchange: Exchange) -> None:
    if exchange.asked.body["stream"]:
        exchange.stream()
        exchange.push(streamed(exchange.asked, SAID)[0], b"data: {nonsense\n\n")
        exchange.end()
    else:
        exchange.send(b"<html>It works!</html>")


def wrong_encoding(exchange: Exchange) -> None:
    exchange.send(whole(exchange.asked, SAID), content_encoding="gzip")


@WIRES
@STREAMS
@pytest.mark.parametrize(
    ("behaviour", "code", "said"),
    [
        (broken_off, "upstream_broke_off", "before its response was complete"),
        (ended_early, None, "before its response was complete"),
        (garbage, "upstream_invalid", "not in the expected format"),
    ],
)
def test_incomplete_and_invalid_answers_are_errors(
    path: str, streams: bool, behaviour: Behaviour, code: str | None, said: str
) -> None:
    with Provider(behaviour) as provider, proxied(provider) as proxy:
        answer = post(proxy, path, streams=streams)
        if streams:
            check_broken(answer, said)
        else:
            assert error_of(answer) == (502, code or "upstream_invalid")


@WIRES
def test_an_answer_with_a_wrong_content_encoding_is_an_error(path: str) -> None:
    with Provider(wrong_encoding) as provider, proxied(provider) as proxy:
        assert error_of(post(proxy, path)) == (502, "upstream_invalid")


@WIRES
@STREAMS
def test_a_provider_that_falls_silent_is_an_error(path: str, streams: bool) -> None:
    def stall(exchange: Exchange) -> None:
        if streams:
            exchange.stream()
            exchange.push(*streamed(exchange.asked, SAID)[:-3])
        exchange.wait_for_leaving()

    with Provider(stall) as provider, proxied(provider, upstream={"read_s": 0.2}) as proxy:
        answer = post(proxy, path, streams=streams)
        if streams:
            check_broken(answer, "in time")
        else:
            assert error_of(answer) == (504, "upstream_timeout")
        assert provider.exchanges[0].left.wait(PATIENCE_S)


@WIRES
def test_a_provider_that_does_not_close_after_its_answer_delays_nothing(path: str) -> None:
    def linger(exchange: Exchange) -> None:
        exchange.stream()
        exchange.push(*streamed(exchange.asked, SAID))
        exchange.wait_for_leaving()

    with Provider(linger) as provider, proxied(provider) as proxy:
        answer = post(proxy, path, streams=True)
        assert answer.content == b"".join(streamed(provider.asked[0], SAID))


@WIRES
@STREAMS
def test_a_provider_that_cannot_be_reached_is_an_error(path: str, streams: bool) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        closed = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with (
            Provider() as provider,
            proxied(provider, upstream={"openai": closed, "anthropic": closed}) as proxy,
        ):
            assert error_of(post(proxy, path, streams=streams)) == (502, "upstream_unreachable")
            assert error_of(httpx.get(f"{proxy.url}/v1/models")) == (502, "upstream_unreachable")


@WIRES
@STREAMS
@pytest.mark.parametrize("code", [400, 401, 429, 500, 529])
def test_an_error_of_the_provider_is_passed_on(path: str, streams: bool, code: int) -> None:
    body = {"error": {"message": "as the provider says it"}}
    failing = status(code, body, retry_after="7", x_request_id="req_9")
    with Provider(failing) as provider, proxied(provider) as proxy:
        answer = post(proxy, path, streams=streams)
        assert (answer.status_code, answer.json()) == (code, body)
        assert answer.headers["retry-after"] == "7"
        assert answer.headers["x-upstream-request-id"] == "req_9"
        assert len(provider.asked) == 1


@WIRES
def test_redirects_are_not_followed(path: str) -> None:
    with Provider(status(307, {}, location="http://127.0.0.1:1/")) as it, proxied(it) as proxy:
        assert error_of(post(proxy, path)) == (502, "upstream_redirects")


def test_the_sdks_recognise_errors() -> None:
    failing = status(429, {"error": {"type": "rate_limit_error", "message": "slow down"}})
    with Provider(failing) as provider, proxied(provider) as proxy:
        for kind in AGENTS[:3]:
            for streams in (False, True):
                agent = kind(proxy.url, streams=streams)
                agent.user(TASK)
                with pytest.raises((openai.RateLimitError, anthropic.RateLimitError)):
                    agent.ask()


@pytest.mark.parametrize(
    ("kind", "error", "said"),
    [
        (ChatAgent, openai.APIError, "before its response was complete"),
        (MessagesAgent, anthropic.APIError, "before its response was complete"),
        (ResponsesAgent, RuntimeError, "Didn't receive|Expected to have received"),
    ],
)
def test_the_sdks_raise_when_a_stream_is_incomplete(
    kind: type[Agent], error: type[Exception], said: str
) -> None:
    """How much of the answer comes before the error depends on timing; the error does not."""
    with Provider(broken_off) as provider, proxied(provider) as proxy:
        agent = kind(proxy.url, streams=True)
        agent.user(TASK)
        with pytest.raises(error, match=said):
            agent.ask()


@WIRES
@STREAMS
@pytest.mark.parametrize("second", [status(500, {}), broken_off, "leave"])
def test_a_failed_feedback_round_removes_the_calls_or_is_an_error(
    path: str, streams: bool, second: Any
) -> None:
    """No second answer: the first is released without its calls. Half of one: an error."""
    following = Exchange.hang_up if second == "leave" else second
    with Provider(Said("Hm.", [EVIL]), following) as provider, proxied(provider) as proxy:
        answer = post(proxy, path, streams=streams)
        assert len(provider.asked) == 2
        assert EVIL.id not in answer.text
        if second is not broken_off:
            assert answer.status_code == 200 and "Not carried out" in answer.text
        elif streams:
            check_broken(answer, "before its response was complete")
        else:
            assert error_of(answer) == (502, "upstream_broke_off")


@WIRES
@STREAMS
def test_a_store_failure_before_the_request_is_sent_is_an_error(path: str, streams: bool) -> None:
    store = Failing()
    with Provider(SAID) as provider, proxied(provider, store=store) as proxy:
        store.gone = True
        answer = post(proxy, path, streams=streams)
        assert error_of(answer) == (503, "store_unavailable")
        assert answer.headers["retry-after"] == "1" and "secret" not in answer.text
        store.gone = False
        assert post(proxy, path, streams=streams).status_code == 200


@pytest.mark.parametrize("agent", AGENTS)
def test_an_unchecked_output_does_not_reach_the_model(agent: type[Agent]) -> None:
    store = Failing()
    with Provider(SAID) as provider, proxied(provider, store=store) as proxy:
        one = agent(proxy.url, streams=False)
        one.user(TASK)
        one.ask()
        one.output(GOOD, "Total: 98.70")
        store.gone = True
        with pytest.raises((openai.InternalServerError, anthropic.InternalServerError)):
            one.ask()
        store.gone = False
        assert len(provider.asked) == 1


def test_a_store_failure_closes_the_connection_to_the_provider() -> None:
    store = Failing()
    with (
        Provider(Exchange.wait_for_leaving) as provider,
        proxied(provider, store=store) as proxy,
    ):
        store.gone = True
        assert error_of(post(proxy, "/v1/messages"))[0] == 503
        assert all(each.left.wait(PATIENCE_S) for each in provider.exchanges)


@WIRES
@STREAMS
def test_a_store_failure_while_the_model_answers_is_an_error(path: str, streams: bool) -> None:
    store = Failing()

    def meanwhile(exchange: Exchange) -> None:
        store.gone = True
        if streams:
            exchange.stream()
            exchange.push(*streamed(exchange.asked, SAID))
            exchange.end()
        else:
            exchange.send(whole(exchange.asked, SAID))

    with Provider(meanwhile) as provider, proxied(provider, store=store) as proxy:
        answer = post(proxy, path, streams=streams)
        store.gone = False
        if streams:
            check_broken(answer, "The store cannot be used.")
        else:
            assert error_of(answer) == (503, "store_unavailable")
        metrics = httpx.get(f"{proxy.url}/metrics").text
        assert "taskshield_store_errors_total 1.0" in metrics


@contextmanager
def connection(
    proxy: Listening, path: str, *, streams: bool, task: str = TASK
) -> Iterator[socket.socket]:
    """A client that has sent its request."""
    content = json.dumps(request(path, streams=streams, task=task)).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    with socket.create_connection(("127.0.0.1", proxy.port), timeout=PATIENCE_S) as made:
        made.sendall(f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content)
        yield made


@WIRES
@STREAMS
@pytest.mark.parametrize("begun", [False, True])
def test_a_disconnected_client_closes_the_connection_to_the_provider(
    path: str, streams: bool, begun: bool
) -> None:
    waiting = threading.Event()

    def hold(exchange: Exchange) -> None:
        if begun and streams:
            exchange.stream()
            exchange.push(*streamed(exchange.asked, SAID)[:3])
        elif begun:
            exchange.begin(b"{", length=999)
        waiting.set()
        exchange.wait_for_leaving()

    with Provider(hold) as provider, proxied(provider) as proxy:
        with connection(proxy, path, streams=streams) as made:
            assert waiting.wait(PATIENCE_S)
            if begun and streams:
                made.recv(1)
        assert provider.exchanges[0].left.wait(PATIENCE_S)


def test_a_client_that_disconnects_ends_a_request_that_is_passed_on() -> None:
    with Provider(Exchange.wait_for_leaving) as provider, proxied(provider) as proxy:
        with socket.create_connection(("127.0.0.1", proxy.port)) as made:
            made.sendall(b"GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            while not provider.exchanges:
                pass
        assert provider.exchanges[0].left.wait(PATIENCE_S)


class Slow(TableJudge):
    """A judge that never finishes a call, and notes that it was cancelled."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = threading.Event()
        self.given_up = threading.Event()

    async def assess(self, message: Message, view: SessionView) -> Assessment:
        if GOOD.id not in [call.id for call in message.tool_calls]:
            return await super().assess(message, view)
        self.asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.given_up.set()
        raise AssertionError


@STREAMS
def test_a_client_that_disconnects_cancels_the_judge(streams: bool) -> None:
    slow = Slow()
    path = "/v1/chat/completions"
    with Provider(SAID) as provider, proxied(provider, by=slow) as proxy:
        with connection(proxy, path, streams=streams):
            assert slow.asked.wait(PATIENCE_S)
        assert slow.given_up.wait(PATIENCE_S)


@WIRES
def test_text_passes_before_the_answer_is_complete(path: str) -> None:
    go_on = threading.Event()

    def speak(exchange: Exchange) -> None:
        *spoken, held = cut_before_call(streamed(exchange.asked, SAID))
        exchange.stream()
        exchange.push(*spoken)
        assert go_on.wait(PATIENCE_S)
        exchange.push(held)
        exchange.end()

    with Provider(speak) as provider, proxied(provider) as proxy:
        with connection(proxy, path, streams=True) as made:
            seen = b""
            while b"I re" not in seen:
                seen += made.recv(65536)
            assert GOOD.name.encode() not in seen
            go_on.set()
            while GOOD.name.encode() not in seen:
                seen += made.recv(65536)


@WIRES
def test_text_passes_and_calls_wait_while_the_request_is_checked(path: str) -> None:
    gated = Gated()
    with Provider(SAID) as provider, proxied(provider, by=gated) as proxy:
        with connection(proxy, path, streams=True, task="Open the gate.") as made:
            seen = b""
            while b"I re" not in seen:
                seen += made.recv(65536)
            assert gated.began.wait(PATIENCE_S) and GOOD.name.encode() not in seen
            gated.gate.set()
            while GOOD.name.encode() not in seen:
                seen += made.recv(65536)


def cut_before_call(events: list[bytes]) -> list[bytes]:
    """Events one by one up to the first that names a call, and the rest in one chunk."""
    first = next(n for n, event in enumerate(events) if GOOD.name.encode() in event)
    return [*events[:first], b"".join(events[first:])]
