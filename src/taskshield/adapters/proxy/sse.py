"""Server-sent events: split from a stream of bytes, and written.

An event keeps its bytes, so that it can be passed on unchanged. One that other readers could split
or read in another way is not plain, and has to be written again.
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
_PLAIN = re.compile(rb"(?:event: ?([!-~]+)\r?\n)?data: ?([^\r\n]*+)\r?\n\r?\n")
"""What nearly all events look like."""
_LONE_RETURN = re.compile(rb"\r(?!\n)")
_BOM = b"\xef\xbb\xbf"
_DONE = "[DONE]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One event, or a comment between events."""

    raw: bytes
    """As it came, with the blank line that ends it."""
    data: str
    """Its data lines. Empty for comments."""
    name: str | None = None
    """As its `event` line says."""
    plain: bool = True
    """Whether every reader splits its lines and reads its data in the same way."""
    comments: bytes = b""
    """What else may pass of an event without data."""

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
        return _read(raw, text)

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


def _read(raw: bytes, text: bytes) -> Event:
    usual = _PLAIN.fullmatch(raw)
    if usual is None:
        return _read_lines(raw, text)
    name, data = usual.groups()
    try:
        decoded = data.decode()
    except UnicodeDecodeError:
        return _read_lines(raw, text)
    return Event(raw=raw, data=decoded, name=None if name is None else name.decode())


def _read_lines(raw: bytes, text: bytes) -> Event:
    """An event whose lines are of any kind and in any order."""
    names: list[str] = []
    values: list[str] = []
    others: list[bytes] = []
    lines = _LINE_END.split(text)
    plain = lines[-2:] == [b"", b""] and text == raw and not _LONE_RETURN.search(raw)
    for line in lines:
        name, _, value = line.partition(b":")
        decoded = value.removeprefix(b" ").decode("utf-8", "replace")
        match name:
            case b"data":
                values.append(decoded)
                plain = plain and decoded.encode() in value
            case b"event":
                names.append(decoded)
            case b"" | b"id" | b"retry" if decoded.isprintable() and "{" not in decoded:
                others.append(line)
            case _:
                plain = False  # other readers may take it for something
    plain = plain and len(values) <= 1 and len(set(names)) <= 1
    if not any(values):
        # Without data there is no event, so nothing is left but comments and the like.
        kept = [line + b"\n" for line in others if line]
        clean = raw if plain and not names else b"".join([*kept, b"\n"] if kept else [])
        return Event(raw=raw, data="", comments=clean)
    name = names[-1] if names else None
    if len(set(names)) > 1 or not (name or "").isprintable():
        raise WireFormatError("an event of the stream has several names")
    return Event(raw=raw, data="\n".join(values), name=name or None, plain=plain)
