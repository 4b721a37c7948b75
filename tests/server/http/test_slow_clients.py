"""Limits of a request's head; and no request may hide in another one."""

import socket
from contextlib import ExitStack

import pytest

from taskshield.stores.memory import MemoryStore
from tests.server.listening import in_thread
from tests.server.stage import judge

HOST = b"Host: 127.0.0.1\r\n"
PLAIN = b"GET /healthz HTTP/1.1\r\n" + HOST
JSON = b"POST /api/sessions HTTP/1.1\r\n" + HOST + b"Content-Type: application/json\r\n"
HIDDEN = PLAIN + b"X-Hidden: yes\r\n\r\n"


def answers(port: int, *sent: bytes) -> bytes:
    """Everything that the server answers until it closes the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        try:
            for part in sent:
                connection.sendall(part)
        except (BrokenPipeError, ConnectionResetError):
            pass  # it does not read on
        said = b""
        try:
            while part := connection.recv(65_536):
                said += part
        except ConnectionResetError:
            pass
        return said


def test_a_head_of_any_ordinary_length_is_read() -> None:
    with in_thread(judge(), MemoryStore()) as server:
        cookie = b"Cookie: " + b"x" * 30_000 + b"\r\n"
        twice = (PLAIN + cookie + b"\r\n", PLAIN + cookie + b"Connection: close\r\n\r\n")
        assert answers(server.port, *twice).count(b"HTTP/1.1 200 ") == 2


@pytest.mark.parametrize(
    "start", [b"GET /healthz?", PLAIN + b"Cookie: ", PLAIN + b"\r\n" + PLAIN + b"Cookie: "]
)
def test_a_head_that_is_too_long_is_refused(start: bytes) -> None:
    with in_thread(judge(), MemoryStore()) as server:
        said = answers(server.port, start, *[b"x" * 65_536] * 20)
        assert said.count(b"HTTP/1.1 400 ") <= 1
        assert b"200 OK" in said or b"too long" in said


@pytest.mark.parametrize("start", [b"", b"GET /hea", PLAIN])
def test_a_head_that_takes_too_long_is_refused(
    start: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("taskshield.server.http.slow_clients._PATIENCE_S", 0.2)
    with in_thread(judge(), MemoryStore()) as server:
        said = answers(server.port, start)
        assert said.endswith(b"The head of the request took too long.")


CHAT = b"POST /v1/chat/completions HTTP/1.1\r\n" + HOST + b"Content-Type: application/json\r\n"
HOOK = b"POST /hooks/claude-code HTTP/1.1\r\n" + HOST
LONG = b"Content-Length: 1000000\r\n\r\n"
CHUNKED = b'Transfer-Encoding: chunked\r\n\r\n4\r\n{"a"\r\n'


@pytest.mark.parametrize("rest", [LONG + b'{"messages": [', LONG, CHUNKED])
@pytest.mark.parametrize("head", [JSON, CHAT, HOOK], ids=["native", "proxy", "hook"])
def test_a_body_that_arrives_too_slowly_is_refused(head: bytes, rest: bytes) -> None:
    with in_thread(judge(), MemoryStore(), limits={"body_s": 0.2}) as server:
        said = answers(server.port, head + rest)
        assert b"The body of the request arrives too slowly." in said
        status = b"200" if head == HOOK else b"408"  # Claude Code ignores any other status
        assert said.startswith(b"HTTP/1.1 " + status)


def test_a_body_that_arrives_in_pieces_is_read() -> None:
    with in_thread(judge(), MemoryStore()) as server:
        head = JSON + b"Connection: close\r\nContent-Length: 200000\r\n\r\n"
        pieces = [b" " * 1_000] * 199
        assert b"201 Created" in answers(server.port, head, *pieces, b" " * 998 + b"{}")


def test_the_oldest_of_too_many_incomplete_bodies_is_ended() -> None:
    with (
        in_thread(judge(), MemoryStore(), limits={"open_bodies": 3}) as server,
        ExitStack() as opened,
    ):
        slow = []
        for _ in range(8):
            slow.append(opened.enter_context(socket.create_connection(("127.0.0.1", server.port))))
            slow[-1].sendall(CHAT + LONG)
            slow[-1].settimeout(30)
        for connection in slow[:5]:
            assert connection.recv(65_536).startswith(b"HTTP/1.1 408 ")
        done = PLAIN + b"Connection: close\r\n\r\n"
        assert b"200 OK" in answers(server.port, done)


def test_a_body_that_the_server_does_not_read_any_more_ends_with_its_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("taskshield.server.http.slow_clients._PATIENCE_S", 0.2)
    with in_thread(judge(), MemoryStore()) as server:
        said = answers(server.port, b"POST /nowhere HTTP/1.1\r\n" + HOST + LONG)
        assert said.startswith(b"HTTP/1.1 404 ")


def test_a_client_that_reads_nothing_is_disconnected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("taskshield.server.http.slow_clients._PATIENCE_S", 0.2)
    wanted = b"GET /api/openapi.json HTTP/1.1\r\n" + HOST + b"\r\n"
    with (
        in_thread(judge(), MemoryStore()) as server,
        socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection,
        pytest.raises((BrokenPipeError, ConnectionResetError)),
    ):
        while True:
            connection.sendall(wanted * 100)


@pytest.mark.parametrize(
    "ambiguous",
    [
        JSON + b"Content-Length: 2\r\nContent-Length: 30\r\n\r\n{}" + HIDDEN,
        JSON + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + HIDDEN,
        JSON + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" + HIDDEN,
        JSON + b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n" + HIDDEN,
        JSON + b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n" + HIDDEN,
        JSON + b"Transfer-Encoding: chunked\r\n\r\n+2\r\n{}\r\n0\r\n\r\n" + HIDDEN,
        JSON + b"Transfer-Encoding: chunked\r\n\r\n2\n{}\n0\n\n" + HIDDEN,
        JSON + b"Content-Length: +2\r\n\r\n{}" + HIDDEN,
        JSON + b"Content-Length: -2\r\n\r\n{}" + HIDDEN,
        JSON + b"Content-Length: 2, 2\r\n\r\n{}" + HIDDEN,
        JSON + b"Content-Length: 99999999999999999999999999\r\n\r\n{}" + HIDDEN,
        JSON + b"X: a\r\n Content-Length: 2\r\n\r\n{}" + HIDDEN,
        JSON + b"X: a\x00b\r\nContent-Length: 2\r\n\r\n{}" + HIDDEN,
        JSON.replace(b"\r\n", b"\n") + b"Content-Length: 2\n\n{}" + HIDDEN,
    ],
)
def test_a_request_of_ambiguous_length_is_refused_with_all_that_follows(
    ambiguous: bytes,
) -> None:
    with in_thread(judge(), MemoryStore()) as server:
        said = answers(server.port, ambiguous)
        assert said.startswith(b"HTTP/1.1 4") and b"200 OK" not in said
