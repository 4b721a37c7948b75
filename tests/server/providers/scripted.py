"""A model's provider with the real wire formats on real sockets, and scripted faults.

    with Provider(Said(calls=[EVIL]), Said("Done.")) as provider:
        ...  # the first request for an answer gets the first, all later ones the last

A `Said` is answered in the format of the requested path, streamed or not.
"""

import json
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self, TypeAlias

from tests.adapters.proxy.sdks import BENCHES, fed
from tests.adapters.proxy.streams import Said

PATHS = dict(zip(("/v1/chat/completions", "/v1/messages", "/v1/responses"), BENCHES, strict=True))
"""What to answer in, by path."""
PATIENCE_S = 30
"""How long anything here waits before the test fails."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request as it came over the wire."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    """Names in lower case."""
    content: bytes

    @property
    def body(self) -> Any:
        """The JSON in it."""
        return json.loads(self.content)


class Exchange:
    """One request that waits for its answer."""

    def __init__(self, asked: Asked, handler: BaseHTTPRequestHandler) -> None:
        self.asked = asked
        self.handler = handler
        self.left = threading.Event()
        """Set when the other side has closed the connection while it was waited for."""

    def send(self, content: bytes, *, status: int = 200, **headers: str) -> None:
        """Answer in one piece."""
        named = {"content_type": "application/json", **headers}
        self._start(status, {**named, "content_length": str(len(content))})
        self.handler.wfile.write(content)

    def begin(self, content: bytes, *, length: int) -> None:
        """Promise so many bytes, and send these."""
        self._start(200, {"content_type": "application/json", "content_length": str(length)})
        self.handler.wfile.write(content)
        self.handler.wfile.flush()

    def stream(self, **headers: str) -> None:
        """Begin a stream."""
        named = {"content_type": "text/event-stream", **headers}
        self._start(200, {**named, "transfer_encoding": "chunked"})

    def push(self, *chunks: bytes) -> None:
        """Send these chunks of a stream, each by itself."""
        for chunk in chunks:
            self.handler.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
            self.handler.wfile.flush()

    def end(self) -> None:
        """End a stream properly."""
        self.handler.wfile.write(b"0\r\n\r\n")

    def hang_up(self) -> None:
        """Close the connection, whatever was promised."""
        self.handler.close_connection = True

    def wait_for_leaving(self) -> None:
        """Wait until the other side closes the connection."""
        self.handler.connection.settimeout(PATIENCE_S)
        assert self.handler.connection.recv(1) == b""
        self.left.set()
        self.hang_up()

    def _start(self, status: int, headers: Mapping[str, str]) -> None:
        self.handler.send_response(status)
        for name, value in headers.items():
            self.handler.send_header(name.replace("_", "-"), value)
        self.handler.end_headers()


Behaviour: TypeAlias = Callable[[Exchange], None]
"""What to do with a request."""


def whole(asked: Asked, said: Said) -> bytes:
    """The answer in one piece, with a layout that no JSON library writes by default."""
    bench = PATHS[asked.path]
    gate = bench.wire_format.gate()
    fed(gate, bench.stream(said))
    return json.dumps(gate.response, indent=1, ensure_ascii=False).encode()


def streamed(asked: Asked, said: Said) -> list[bytes]:
    """The answer as the chunks of a stream."""
    return PATHS[asked.path].stream(said)


def say(said: Said) -> Behaviour:
    """Answer as a real provider does."""

    def behave(exchange: Exchange) -> None:
        if not exchange.asked.body.get("stream"):
            exchange.send(whole(exchange.asked, said), x_request_id="req_1", set_cookie="a=b")
            return
        exchange.stream(x_request_id="req_1")
        exchange.push(*streamed(exchange.asked, said))
        exchange.end()

    return behave


def status(code: int, body: object, **headers: str) -> Behaviour:
    """Answer with an error."""
    return lambda exchange: exchange.send(json.dumps(body).encode(), status=code, **headers)


class Provider:
    """The provider: open from the start to the end of its `with` block."""

    def __init__(self, *script: Said | Behaviour) -> None:
        self._script: Sequence[Behaviour] = [
            say(each) if isinstance(each, Said) else each for each in script
        ]
        self._lock = threading.Lock()
        self.asked: list[Asked] = []
        """Every request so far."""
        self.exchanges: list[Exchange] = []
        provider = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1
            disable_nagle_algorithm = True

            def log_message(self, format: str, *args: object) -> None:
                """Keep the tests' output clean."""

            def __getattr__(self, name: str) -> Callable[[], None]:
                if not name.startswith("do_"):
                    raise AttributeError(name)
                return lambda: provider._handle(self)

        self._server = _Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    @cached_property
    def url(self) -> str:
        """Address without a path."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def settings(self) -> dict[str, Any]:
        """How a proxy finds it."""
        return {"openai": f"{self.url}/v1", "anthropic": self.url}

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _handle(self, handler: BaseHTTPRequestHandler) -> None:
        path, _, query = handler.path.partition("?")
        asked = Asked(
            method=handler.command,
            path=path,
            query=query,
            headers={name.lower(): value for name, value in handler.headers.items()},
            content=handler.rfile.read(int(handler.headers.get("Content-Length", "0"))),
        )
        exchange = Exchange(asked, handler)
        with self._lock:
            behaviour = self._script[min(len(self.asked), len(self._script) - 1)]
            self.asked.append(asked)
            self.exchanges.append(exchange)
        behaviour(exchange)
        handler.wfile.flush()


class _Server(ThreadingHTTPServer):
    # Clients pool connections, so the threads end when the clients close them.
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def handle_error(self, request: object, client_address: object) -> None:
        # A client that leaves early is part of the tests; anything else is a bug in one of them.
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]
