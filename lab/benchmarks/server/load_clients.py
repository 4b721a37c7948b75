"""HTTP clients that send one request after the other and time the answers.

They use httptools on asyncio, because they share the machine with the measured server.
"""

import asyncio
import json
import time
from collections.abc import Iterable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import httptools
from server_processes import HOST, KEY

_PATIENCE_S = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientRequest:
    """A request."""

    path: str
    body: bytes

    def wire(self) -> bytes:
        """The bytes of the request."""
        return (
            f"POST {self.path} HTTP/1.1\r\nhost: {HOST}\r\ncontent-type: application/json\r\n"
            f"authorization: Bearer {KEY}\r\ncontent-length: {len(self.body)}\r\n\r\n"
        ).encode() + self.body


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The times of an answer."""

    status: int
    first_ms: float | None
    """Until the model's first word in a stream."""
    whole_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """The answers to requests of several clients."""

    answers: Sequence[Answer]
    seconds: float
    """Seconds until all were answered."""


class Clients:
    """Clients of one server, each with its own connection."""

    def __init__(self, port: int, count: int) -> None:
        self._port = port
        self._count = count
        self._connections: list[_Connection] = []
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        for _ in range(self._count):
            transport, connection = await loop.create_connection(_Connection, HOST, self._port)
            self._stack.callback(transport.close)
            connection.transport = transport
            self._connections.append(connection)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._stack.aclose()

    async def send(self, requests: Iterable[ClientRequest]) -> Load:
        """Send requests. Each client sends the next one when it has an answer.

        Raises:
            RuntimeError: An answer does not have the status 200.
        """
        left, answers = iter([ask.wire() for ask in requests]), list[Answer]()

        async def client(connection: _Connection) -> None:
            for wire in left:
                answers.append(await connection.send(wire))

        began = time.perf_counter()
        async with asyncio.timeout(_PATIENCE_S):
            await asyncio.gather(*map(client, self._connections))
        seconds = time.perf_counter() - began
        wrong = sorted({answer.status for answer in answers} - {200})
        if wrong:
            raise RuntimeError(f"Some answers have the status {', '.join(map(str, wrong))}.")
        return Load(answers=answers, seconds=seconds)


class _Connection(asyncio.Protocol):
    """A persistent connection with one request at a time."""

    transport: asyncio.Transport

    def __init__(self) -> None:
        self._parser = httptools.HttpResponseParser(self)
        self._answered: asyncio.Future[float] | None = None
        self._began = 0.0
        self._first: float | None = None
        self._body = b""

    async def send(self, wire: bytes) -> Answer:
        """Send a request and wait for its answer."""
        self._answered = asyncio.get_running_loop().create_future()
        self._first, self._body = None, b""
        self._began = time.perf_counter()
        self.transport.write(wire)
        whole = await self._answered
        return Answer(status=self._parser.get_status_code(), first_ms=self._first, whole_ms=whole)

    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def connection_lost(self, error: Exception | None) -> None:
        if self._answered is not None and not self._answered.done():
            self._answered.set_exception(ConnectionError("The server closed the connection."))

    def on_body(self, body: bytes) -> None:
        """Called by the parser with some of an answer."""
        if self._first is None:
            self._body += body
            if _has_words(self._body):
                self._first = self._passed_ms()

    def on_message_complete(self) -> None:
        """Called by the parser at the end of an answer."""
        if self._answered is not None and not self._answered.done():
            self._answered.set_result(self._passed_ms())

    def _passed_ms(self) -> float:
        return (time.perf_counter() - self._began) * 1000


def _has_words(stream: bytes) -> bool:
    """Whether a stream of chat completion chunks has come to the model's first word."""
    lines = stream.split(b"\n")[:-1]
    events = [line.removeprefix(b"data:") for line in lines if line.startswith(b"data: {")]
    choices = (choice for event in events for choice in json.loads(event).get("choices", ()))
    return any(choice.get("delta", {}).get("content") for choice in choices)
