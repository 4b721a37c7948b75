"""What passes unchanged, who may use the proxy, and where requests go."""

import gzip
import json
import zlib
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import anthropic
import httpx
import openai
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taskshield.core.errors import ConfigError
from taskshield.server.proxy.headers import to_client, to_provider
from taskshield.server.proxy.provider import ProviderClient
from taskshield.settings import UpstreamSettings
from taskshield.stores.memory import MemoryStore
from tests.adapters.proxy.streams import Said
from tests.engine.sessions import run
from tests.server.listening import Listening
from tests.server.providers.scripted import PATHS, Exchange, Provider, streamed, whole
from tests.server.proxy.stage import EVIL, GOOD, TASK, proxied
from tests.server.proxy.test_faults import STREAMS, WIRES, error_of, request
from tests.server.stage import keyed

SAID = Said("I read it.", [GOOD])


def post(proxy: Listening, path: str, content: bytes, **headers: str) -> httpx.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    kind = {"content-type": "application/json"}
    return httpx.post(proxy.url + path, content=content, headers={**kind, **named})


@WIRES
@STREAMS
def test_where_nothing_is_blocked_all_bytes_are_the_same(path: str, streams: bool) -> None:
    asked = request(path, streams=streams) | {"x_unknown": [1.0, "\u00e9", {"a": None}]}
    content = json.dumps(asked, indent=3, ensure_ascii=False).encode()
    with Provider(SAID) as provider, proxied(provider) as proxy:
        answer = post(proxy, f"{path}?beta=true&beta=2", content, x_other="1")
        (seen,) = provider.asked
        assert (seen.path, seen.query, seen.content) == (path, "beta=true&beta=2", content)
        assert seen.headers["x-other"] == "1"
        expected = b"".join(streamed(seen, SAID)) if streams else whole(seen, SAID)
        assert answer.content == expected
        assert answer.headers["x-upstream-request-id"] == "req_1"


@WIRES
def test_a_provider_may_answer_a_streaming_request_in_one_piece(path: str) -> None:
    def in_one_piece(exchange: Exchange) -> None:
        exchange.send(whole(exchange.asked, SAID))

    with Provider(in_one_piece) as provider, proxied(provider) as proxy:
        answer = post(proxy, path, json.dumps(request(path, streams=True)).encode())
        assert answer.content == whole(provider.asked[0], SAID)


class Player:
    """A provider that sends the stream it is given, in chunks."""

    def __init__(self) -> None:
        self.chunks: list[bytes] = []

    def __call__(self, exchange: Exchange) -> None:
        exchange.stream()
        exchange.push(*self.chunks)
        exchange.end()


def test_a_stream_may_be_cut_anywhere() -> None:
    player = Player()
    with Provider(player) as provider, proxied(provider) as proxy, httpx.Client() as client:

        @settings(max_examples=60)
        @given(st.sampled_from(list(PATHS)), st.sets(st.integers(1, 4000), max_size=30))
        def check(path: str, cuts: set[int]) -> None:
            stream = b"".join(PATHS[path].stream(SAID))
            edges = [0, *sorted(cut for cut in cuts if cut < len(stream)), len(stream)]
            player.chunks = [stream[a:b] for a, b in pairwise(edges)]
            answer = client.post(proxy.url + path, json=request(path, streams=True))
            assert answer.content == stream

        check()


@WIRES
@pytest.mark.parametrize(
    ("encoding", "pack"), [("gzip", gzip.compress), ("deflate", zlib.compress)]
)
def test_compressed_answers_are_read(
    path: str, encoding: str, pack: Callable[[bytes], bytes]
) -> None:
    def compressed(exchange: Exchange) -> None:
        assert exchange.asked.headers["accept-encoding"] == "identity"
        exchange.send(pack(whole(exchange.asked, SAID)), content_encoding=encoding)

    with Provider(compressed) as provider, proxied(provider) as proxy:
        answer = post(proxy, path, json.dumps(request(path, streams=False)).encode())
        assert "content-encoding" not in answer.headers
        assert answer.content == whole(provider.asked[0], SAID)


def test_answers_in_an_unrequested_encoding_are_invalid() -> None:
    def compressed(exchange: Exchange) -> None:
        exchange.send(b"\x0b\x02\x80{}\x03", content_encoding="br")

    with Provider(compressed) as provider, proxied(provider) as proxy:
        content = json.dumps(request("/v1/messages", streams=False)).encode()
        assert error_of(post(proxy, "/v1/messages", content)) == (502, "upstream_invalid")


def test_long_bodies_and_headers_pass() -> None:
    cookie = "x" * 30_000

    def long_header(exchange: Exchange) -> None:
        exchange.send(b"{}", x_long=cookie)

    content = json.dumps({"input": "long " * 200_000}).encode()
    with Provider(long_header) as provider, proxied(provider) as proxy:
        answer = post(proxy, "/v1/embeddings", content)
        assert answer.headers["x-long"] == cookie
        assert provider.asked[0].content == content
        assert provider.asked[0].headers["content-length"] == str(len(content))


def test_a_header_that_is_not_text_is_refused() -> None:
    with Provider() as provider, proxied(provider) as proxy:
        answer = httpx.get(f"{proxy.url}/v1/models", headers=[(b"x-odd", b"\xff")])
        assert error_of(answer) == (400, "invalid_request")
        assert provider.asked == []


def test_a_proxy_that_the_environment_names_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    def models(exchange: Exchange) -> None:
        exchange.send(b"{}")

    with Provider(models) as between:
        monkeypatch.setenv("HTTP_PROXY", between.url)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        with (
            Provider(models) as near,
            proxied(near, upstream={"anthropic": "http://models.example"}) as proxy,
            httpx.Client(trust_env=False) as client,
        ):
            named = {"anthropic-version": "2023-06-01"}
            assert client.get(f"{proxy.url}/v1/models", headers=named).status_code == 200
            assert client.get(f"{proxy.url}/v1/models").status_code == 200
            assert len(near.asked) == len(between.asked) == 1
            assert between.asked[0].headers["host"] == "models.example"


def test_a_compressed_request_is_refused() -> None:
    with Provider() as provider, proxied(provider) as proxy:
        content = gzip.compress(json.dumps(request("/v1/messages", streams=False)).encode())
        answer = post(proxy, "/v1/messages", content, content_encoding="gzip")
        assert error_of(answer) == (415, "unsupported_encoding")
        assert provider.asked == []


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE"])
def test_other_paths_pass_as_they_are(method: str) -> None:
    body = gzip.compress(b"any bytes")

    def any_answer(exchange: Exchange) -> None:
        headers = {"content_type": "x/y", "content_encoding": "gzip", "connection": "x-hop"}
        exchange.send(body, status=207, **headers, x_hop="1", x_kept="2")

    content = b"" if method == "GET" else b"\x00any\xff"
    with Provider(any_answer) as provider, proxied(provider) as proxy:
        with httpx.stream(
            method,
            f"{proxy.url}/v1/files/a%2Fb?x=%20",
            content=content,
            headers={"connection": "x-mine", "x-mine": "1", "te": "trailers"},
        ) as answer:
            assert b"".join(answer.iter_raw()) == body
        (seen,) = provider.asked
        assert (seen.method, seen.path, seen.query) == (method, "/v1/files/a%2Fb", "x=%20")
        assert seen.content == content
        assert not {"x-mine", "te"} & set(seen.headers)
        assert answer.status_code == 207
        assert answer.headers["content-encoding"] == "gzip" and answer.headers["x-kept"] == "2"
        assert "x-hop" not in answer.headers and len(answer.headers.get_list("date")) == 1


def test_models_come_from_the_provider_of_the_client() -> None:
    def models(exchange: Exchange) -> None:
        exchange.send(b'{"object": "list", "data": [], "has_more": false}')

    with (
        Provider(models) as one,
        Provider(models) as other,
        proxied(one, upstream={"anthropic": f"{other.url}/base/"}) as proxy,
    ):
        with openai.OpenAI(base_url=f"{proxy.url}/v1", api_key="k") as client:
            assert client.models.list().data == []
        with anthropic.Anthropic(base_url=proxy.url, api_key="k") as theirs:
            assert theirs.models.list().data == []
        assert [asked.path for asked in one.asked] == ["/v1/models"]
        assert [asked.path for asked in other.asked] == ["/base/v1/models"]
        assert one.asked[0].headers["authorization"] == "Bearer k"
        assert other.asked[0].headers["authorization"] == "Bearer k"


@pytest.mark.parametrize(
    "path",
    [
        "/v1/chat/completions/",
        "/v1//chat/completions",
        "/v1/Chat/Completions",
        "/v1/chat%2Fcompletions",
    ],
)
def test_a_guarded_path_is_guarded_however_it_is_spelled(path: str) -> None:
    with Provider(Said(calls=[EVIL])) as provider, proxied(provider, policy={"rounds": 0}) as it:
        content = json.dumps(request("/v1/chat/completions", streams=False)).encode()
        answer = post(it, path, content)
        assert provider.asked[0].path == "/v1/chat/completions"
        assert EVIL.id not in answer.text and "Not carried out" in answer.text


@pytest.mark.parametrize("path", ["/v1/x/%2E%2E/chat/completions", "/%76%31/models", "/v1/%2e/x"])
def test_paths_that_are_not_plain_are_refused(path: str) -> None:
    with Provider() as provider, proxied(provider) as proxy:
        assert error_of(httpx.get(proxy.url + path)) == (400, "invalid_request")
        assert provider.asked == []


def test_a_cookie_of_one_client_is_not_sent_for_another() -> None:
    with Provider(SAID) as provider, proxied(provider) as proxy:
        content = json.dumps(request("/v1/messages", streams=False)).encode()
        for _ in range(2):
            assert post(proxy, "/v1/messages", content).headers["set-cookie"] == "a=b"
        assert "cookie" not in provider.asked[1].headers


# Who may use the proxy


@pytest.mark.parametrize(
    ("header", "value"), [("x-taskshield-key", "KEY"), ("authorization", "Bearer KEY")]
)
def test_a_key_of_the_server_opens_the_proxy_and_is_not_sent_on(header: str, value: str) -> None:
    store = MemoryStore()
    key, other = run(keyed(store, "proxy")), run(keyed(store, "check"))
    with Provider(SAID) as provider, proxied(provider, store=store) as proxy:
        content = json.dumps(request("/v1/messages", streams=False)).encode()
        path = f"{proxy.url}/v1/messages"
        theirs = {"x-api-key": "sk-ant", "content-type": "application/json"}
        assert error_of(httpx.post(path, content=content, headers=theirs))[0] == 401
        assert error_of(httpx.get(f"{proxy.url}/v1/models", headers=theirs))[0] == 401
        wrong = {**theirs, header: value.replace("KEY", other)}
        assert error_of(httpx.post(path, content=content, headers=wrong))[0] == 403
        right = {**theirs, header: value.replace("KEY", key)}
        assert httpx.post(path, content=content, headers=right).status_code == 200
        (seen,) = provider.asked
        assert seen.headers["x-api-key"] == "sk-ant" and "tsk_" not in str(seen.headers)


def test_tenants_do_not_share_conversations() -> None:
    store = MemoryStore()
    keys = [run(keyed(store, "proxy", "check", tenant=name)) for name in ("ours", "theirs")]
    with Provider(SAID) as provider, proxied(provider, store=store) as proxy:
        content = json.dumps(request("/v1/responses", streams=False)).encode()
        found = []
        for key in keys:
            answer = post(proxy, "/v1/responses", content, x_taskshield_key=key)
            found.append(answer.headers["x-taskshield-session"])
            own = {"x-taskshield-key": key}
            listed = httpx.get(f"{proxy.url}/api/sessions", headers=own).json()["items"]
            assert [each["id"] for each in listed] == found[-1:]


@pytest.mark.parametrize(
    ("content", "status", "code"),
    [
        (b"{", 400, "invalid_request"),
        (b"[]", 400, "invalid_request"),
        (b'{"messages": 3}', 400, "invalid_request"),
        (b"[" * 200, 400, "too_deep"),
        (b'{"messages": "' + b"x" * 2000 + b'"}', 413, "too_large"),
        (b'{"messages": [' + b'{"role": "user", "content": "x"},' * 9 + b"{}]}", 400, None),
    ],
)
def test_bad_requests_are_not_sent_on(content: bytes, status: int, code: str | None) -> None:
    limits = {"body_bytes": 1500}
    with Provider() as provider, proxied(provider, limits=limits) as proxy:
        found = error_of(post(proxy, "/v1/chat/completions", content))
        assert found == (status, code or "invalid_request")
        assert provider.asked == []


def test_too_many_messages_and_calls_that_make_no_sense_are_refused() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    asked: dict[str, Any] = {"messages": [{"role": "user", "content": TASK}]}
    with Provider(SAID) as provider, proxied(provider, limits={"messages": 2}) as proxy:
        many = {"messages": asked["messages"] * 3}
        answer = post(proxy, "/v1/chat/completions", json.dumps(many).encode())
        assert error_of(answer) == (413, "too_many_messages")
        asked["messages"].append({"role": "assistant", "tool_calls": [call, call]})
        answer = post(proxy, "/v1/chat/completions", json.dumps(asked).encode())
        assert error_of(answer) == (400, "invalid_conversation")
        named = post(proxy, "/v1/chat/completions", b"{}", x_taskshield_session="x" * 129)
        assert error_of(named) == (400, "invalid_request")


@pytest.mark.parametrize(
    "address", ["", "ftp://x", "https://", "http://x:0", "http://x:y/", "http://x/?a=b"]
)
def test_an_invalid_address_is_a_wrong_setting(address: str) -> None:
    for name in ("openai", "anthropic"):
        with pytest.raises(ConfigError, match=f"server.upstream.{name} "):
            ProviderClient(UpstreamSettings.model_validate({name: address}))


def test_headers_are_dropped_whatever_their_case() -> None:
    given = [(b"Keep-Alive", b"1"), (b"X-TaskShield-Key", b"k"), (b"X-Api-Key", b"tsk_1")]
    assert to_provider([*given, (b"X-API-Key", b"sk-1")]) == [(b"x-api-key", b"sk-1")]
    assert to_client([(b"Date", b"x"), (b"Content-Encoding", b"gzip")], read=True) == []
