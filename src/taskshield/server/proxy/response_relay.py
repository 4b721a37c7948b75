"""An answer on its way to the client, in one piece or as a stream, with the same steps. No I/O.

The provider's chunks are fed. A complete answer can be judged. Then it is released, released
without some calls, or dropped because the model tries again.
"""

import json
from collections.abc import Collection, Iterable, Iterator
from typing import Protocol

from taskshield.adapters.proxy.exchange import Body, Reply
from taskshield.adapters.proxy.sse import Splitter
from taskshield.adapters.proxy.stream_gate import MAX_ANSWER
from taskshield.adapters.proxy.strict_json import object_of
from taskshield.adapters.proxy.usage import with_usage_of
from taskshield.adapters.proxy.wire_format import WireFormat
from taskshield.core.errors import WireFormatError


class ResponseRelay(Protocol):
    """An answer over all its rounds."""

    @property
    def response(self) -> Body | None:
        """The answer as one JSON object, once it is complete."""

    @property
    def complete(self) -> Reply | None:
        """The answer as messages, once it is complete. Now it can be judged."""

    @property
    def unread(self) -> int:
        """Bytes that are fed, but not read before `close`."""

    def feed(self, chunk: bytes) -> Iterable[bytes]:
        """What may go to the client at once. The whole iterable must be read.

        Raises:
            WireFormatError: The provider sent what is not an answer.
        """

    def close(self) -> list[bytes]:
        """The provider has sent everything; what may go to the client.

        Raises:
            WireFormatError: The provider sent what is not an answer.
        """

    def release(self) -> list[bytes]:
        """What is buffered, as it came."""

    def release_without(self, refused: Collection[str], note: str) -> list[bytes]:
        """What is buffered without the refused calls, and with a note that says why."""

    def next_round(self) -> list[bytes]:
        """Drop what is buffered: the next chunks are those of the next answer."""

    def as_seen(self, ending: Iterable[bytes]) -> Reply | None:
        """The answer as the client reads it, with this ending."""


class CompleteRelay:
    """An answer in one piece."""

    def __init__(self, wire_format: WireFormat) -> None:
        self._wire_format = wire_format
        self._chunks: list[bytes] = []
        self._length = 0
        self._earlier: list[Body] = []
        self._response: Body | None = None
        self._reply: Reply | None = None

    @property
    def response(self) -> Body | None:
        """The answer, once it is complete."""
        return self._response

    @property
    def complete(self) -> Reply | None:
        """The answer as messages, once it is complete."""
        return self._reply

    @property
    def unread(self) -> int:
        """All bytes."""
        return self._length

    def feed(self, chunk: bytes) -> list[bytes]:
        """Buffer it."""
        self._length += len(chunk)
        if self._length > MAX_ANSWER:
            raise WireFormatError(f"the answer is longer than {MAX_ANSWER} bytes")
        self._chunks.append(chunk)
        return []

    def close(self) -> list[bytes]:
        """Read the answer."""
        try:
            text = b"".join(self._chunks).decode()
        except UnicodeDecodeError:
            raise WireFormatError("the answer is not UTF-8") from None
        self._response = object_of(text)
        self._reply = self._wire_format.read_response(self._response)
        return []

    def release(self) -> list[bytes]:
        """The answer; that of a first round byte for byte."""
        return self._written(self._whole()) if self._earlier else self._chunks

    def release_without(self, refused: Collection[str], note: str) -> list[bytes]:
        """The answer without the refused calls."""
        return self._written(self._wire_format.without_calls(self._whole(), refused, note))

    def next_round(self) -> list[bytes]:
        """Drop the answer, but for its usage."""
        self._earlier.append(self._whole())
        self._chunks, self._length = [], 0
        self._response = self._reply = None
        return []

    def as_seen(self, ending: Iterable[bytes]) -> Reply | None:
        """The answer as the client reads it."""
        return self._wire_format.read_response(json.loads(b"".join(ending)))

    def _whole(self) -> Body:
        assert self._response is not None
        return self._response

    def _written(self, response: Body) -> list[bytes]:
        return [json.dumps(with_usage_of(response, self._earlier)).encode()]


class StreamRelay:
    """An answer as a stream of events."""

    def __init__(self, wire_format: WireFormat) -> None:
        self._wire_format = wire_format
        self._gate = wire_format.gate()
        self._splitter = Splitter()
        self._passed: list[bytes] = []

    @property
    def response(self) -> Body | None:
        """The answer as one JSON object, once it is complete."""
        return self._gate.response

    @property
    def complete(self) -> Reply | None:
        """The answer as messages, once it is complete."""
        return self._gate.complete

    @property
    def unread(self) -> int:
        """None: chunks are read as they come."""
        return 0

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Pass text before more of the chunk is read; buffer calls and the end."""
        for event in self._splitter.feed(chunk):
            yield from self._noted(self._gate.feed(event))

    def close(self) -> list[bytes]:
        """The rest of the stream."""
        left = [data for event in self._splitter.close() for data in self._gate.feed(event)]
        self._gate.close()
        return self._noted(left)

    def release(self) -> list[bytes]:
        """What is buffered, as it came."""
        return self._gate.release()

    def release_without(self, refused: Collection[str], note: str) -> list[bytes]:
        """What is buffered without the refused calls."""
        return self._gate.release_without(refused, note)

    def next_round(self) -> list[bytes]:
        """Drop what is buffered; the client's stream continues with the next one."""
        self._splitter = Splitter()
        return self._noted(self._gate.next_round())

    def fail(self, message: str) -> list[bytes]:
        """The end of the stream, as an error in its format."""
        return self._gate.fail(message)

    def as_seen(self, ending: Iterable[bytes]) -> Reply | None:
        """The answer as the client reads it."""
        again = StreamRelay(self._wire_format)
        for _ in again.feed(b"".join([*self._passed, *ending])):
            pass
        again.close()
        return again.complete

    def _noted(self, passed: list[bytes]) -> list[bytes]:
        self._passed += passed
        return passed
