"""Limits of a request's head; and no request may hide in another one."""

import socket

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
