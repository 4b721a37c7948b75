"""A model endpoint with a given behaviour, good or bad, over a real loopback socket.

    with Upstream(answer({"error": {}}, status=500), answer(openai_body("{}"))) as upstream:
        client = OpenAIClient(model="m", base_url=upstream.url + "/v1", retries=1)

Each request takes the next behaviour; the last one stays for all that follow.
"""

import json
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self, TypeAlias

RETRY_AT_ONCE = {"Retry-After": "0", "retry-after-ms": "1"}
"""Headers that make the SDKs' back-off short; zero seconds alone they take as "not given"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A request as it arrived."""

    path: str
    headers: Mapping[str, str]
    """Names in lower case."""
    body: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One request that waits for its answer; an `Upstream` makes these for its behaviours."""

    seen: Seen
    closing: threading.Event
    """Set when the upstream is being closed."""
    handler: BaseHTTPRequestHandler

    def send(self, status: int, body: bytes, headers: Mapping[str, str], *, length: int) -> None:
        """Answer. With a `length` beyond the body's, the answer is incomplete."""
        self.handler.send_response(status)
        for name, value in {"Content-Type": "application/json", **headers}.items():
            self.handler.send_header(name, value)
        self.handler.send_header("Content-Length", str(length))
        self.handler.end_headers()
        self.handler.wfile.write(body)


Behaviour: TypeAlias = Callable[[Exchange], None]
"""What to do with a request. One that sends nothing closes the connection without an answer."""


def answer(
    body: object, *, status: int = 200, headers: Mapping[str, str] | None = None
) -> Behaviour:
    """Answer with a JSON value, or with bytes as they are."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    more = {} if headers is None else headers
    return lambda exchange: exchange.send(status, data, more, length=len(data))


def cut_off(body: object) -> Behaviour:
    """Promise the whole answer, send half of it and close the connection."""
    data = json.dumps(body).encode()
    half = data[: len(data) // 2]
    return lambda exchange: exchange.send(200, half, {}, length=len(data))


def hang_up(exchange: Exchange) -> None:
    """Close the connection without an answer."""


def hang(exchange: Exchange) -> None:
    """Never answer; ends when the upstream is closed."""
    exchange.closing.wait()


def by_request(choose: Callable[[Seen], Behaviour]) -> Behaviour:
    """Behave in a way that depends on the request."""
    return lambda exchange: choose(exchange.seen)(exchange)


def openai_body(
    text: str | None = "{}", *, finish: str | None = "stop", refusal: str | None = None
) -> dict[str, Any]:
    """A chat completion as OpenAI answers it: 11 tokens in, 7 out."""
    message = {"role": "assistant", "content": text, "refusal": refusal}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "some-model",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
    }


def anthropic_body(*texts: str, finish: str | None = "end_turn") -> dict[str, Any]:
    """A message as Anthropic answers it: 11 tokens in, 7 out."""
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "some-model",
        "content": [{"type": "text", "text": text} for text in texts],
        "stop_reason": finish,
        "stop_sequence": None,
        "usage": {"input_tokens": 11, "output_tokens": 7},
    }


class Upstream:
    """The endpoint: open from the start until `close`, or to the end of its `with` block."""

    def __init__(self, first: Behaviour, *others: Behaviour) -> None:
        self._behaviours = (first, *others)
        self._closing = threading.Event()
        self._lock = threading.Lock()
        self.seen: list[Seen] = []
        """Every request so far."""
        upstream = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                upstream._handle(self)

            def log_message(self, format: str, *args: object) -> None:
                """Keep the tests' output clean."""

        self._server = _Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    @property
    def url(self) -> str:
        """Address without a path."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def bodies(self) -> list[dict[str, Any]]:
        """The body of every request so far."""
        return [seen.body for seen in self.seen]

    def close(self) -> None:
        """End hanging requests, and wait for all threads."""
        self._closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _handle(self, handler: BaseHTTPRequestHandler) -> None:
        length = int(handler.headers.get("Content-Length", "0"))
        seen = Seen(
            path=handler.path,
            headers={name.lower(): value for name, value in handler.headers.items()},
            body=json.loads(handler.rfile.read(length)),
        )
        with self._lock:
            turn = min(len(self.seen), len(self._behaviours) - 1)
            self.seen.append(seen)
        self._behaviours[turn](Exchange(seen=seen, closing=self._closing, handler=handler))


class _Server(ThreadingHTTPServer):
    # Joined on close, so that no test leaves a thread or a socket to the next one.
    daemon_threads = False
    # The default of 5 drops connections of clients that ask many things at once.
    request_queue_size = 128

    def handle_error(self, request: object, client_address: object) -> None:
        # A client that leaves early is part of the tests; anything else is a bug in one of them.
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]
