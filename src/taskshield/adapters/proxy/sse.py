"""Server-sent events: split from a stream of bytes, and written.

An event keeps its bytes, so that it can be passed on unchanged.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from taskshield.adapters.proxy.exchange import Body
from taskshield.core.errors import WireFormatError

MAX_EVENT = 16 * 2**20
"""Longest event that is accepted, in bytes. Events with pictures have a few million."""

_LINE_END = re.compile(rb"\r\n|\n|\r")
_BOM = b"\xef\xbb\xbf"
_DONE = "[DONE]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One event, or a comment between events."""

    raw: bytes
    """As it came, with the blank line that ends it."""
    data: str
    """Its data lines. Empty for comments."""

    @property
    def done(self) -> bool:
        """Whether this is the mark at the end of OpenAI's streams."""
        return self.data.strip() == _DONE


class Splitter:
    """Splits a stream into events, wherever its chunks end."""

    def __init__(self, limit: int = MAX_EVENT) -> None:
        self._limit = limit
        self._buffer = bytearray()
        self._line = 0
        self._searched = 0
        self._started = False

    def feed(self, chunk: bytes) -> list[Event]:
        """The events that end in this chunk.

        Raises:
            WireFormatError: An event is too long.
        """
        self._buffer += chunk
        return list(self._events(more=True))

    def close(self) -> list[Event]:
        """The rest at the end of the stream: senders may forget the last blank line."""
        events = list(self._events(more=False))
        raw, self._buffer = bytes(self._buffer), bytearray()
        return [*events, self._event(raw)] if raw else events

    def _events(self, *, more: bool) -> Iterator[Event]:
        while (end := _LINE_END.search(self._buffer, self._searched)) is not None:
            if more and end.group() == b"\r" and end.end() == len(self._buffer):
                break  # its line feed may be on the way
            blank = end.start() == self._line
            self._line = self._searched = end.end()
            if blank:
                yield self._event(bytes(self._buffer[: end.end()]))
                del self._buffer[: end.end()]
                self._line = self._searched = 0
        self._searched = max(self._line, len(self._buffer) - 1)
        self._check(len(self._buffer))

    def _event(self, raw: bytes) -> Event:
        self._check(len(raw))
        text = raw if self._started else raw.removeprefix(_BOM)
        self._started = True
        return Event(raw=raw, data=_data(text))

    def _check(self, length: int) -> None:
        if length > self._limit:
            raise WireFormatError(f"an event of the stream is longer than {self._limit} bytes")


def frame(payload: Body) -> bytes:
    """An event with this payload, named by its type where it has one."""
    # In ASCII, because half of a surrogate pair, which deltas may end in, has no UTF-8.
    data = json.dumps(payload, separators=(",", ":"))
    kind = payload.get("type")
    name = f"event: {kind}\n" if isinstance(kind, str) and kind.isprintable() else ""
    return f"{name}data: {data}\n\n".encode()


def comment(name: str, values: Mapping[str, str]) -> bytes:
    """A comment with these values, which no client takes for an event."""
    pairs = " ".join(f"{key}={value}" for key, value in values.items())
    return f": {name} {pairs}\n\n".encode()


def _data(raw: bytes) -> str:
    values: list[bytes] = []
    for line in _LINE_END.split(raw):
        name, _, value = line.partition(b":")
        if name == b"data":
            values.append(value.removeprefix(b" "))
    return b"\n".join(values).decode("utf-8", "replace")
