"""Limits the time and the length of a request's head, and the time that a client may not read.

uvicorn does neither. The limits of bodies are in `limits`; here a body is ended only where the
server does not read it any more, because its request is answered.
"""

import asyncio

from taskshield.server.uvicorn_internals import RefusableConnection

LONGEST = 64 * 1024
"""Most bytes of a request's head; a little more if they arrive together."""
_PATIENCE_S = 30.0
"""Longest time for it, from the opening of the connection or from its first byte. The same time a
client has to finish the body of a request that is answered, and to read some of an answer."""
_LEAST_READ = 32 * 1024
"""Bytes of an answer that a client has to read in that time."""


class Connection(RefusableConnection):
    """One connection of a client."""

    _in_head = True
    _length = 0
    _timer: asyncio.TimerHandle | None = None
    _body_timer: asyncio.TimerHandle | None = None
    _reading_timer: asyncio.TimerHandle | None = None
    _unread = 0
    """Bytes of answers that wait for the client, when they were last counted."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start to wait for a request."""
        super().connection_made(transport)
        self._start_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop to wait."""
        self._stop_timer()
        self._stop_body_timer()
        self._stop_reading_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse the bytes, unless the head is too long."""
        if self._in_head:
            self._start_timer()
            self._length += len(data)
        super().data_received(data)
        if self._length > LONGEST:
            self.refuse("The head of the request is too long.")

    def on_headers_complete(self) -> None:
        """The head of a request is complete."""
        self._in_head = False
        self._length = 0
        self._stop_timer()
        self._body_timer = self.loop.call_later(_PATIENCE_S, self._look_at_body)
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The request is complete; the next bytes are the head of another one."""
        self._in_head = True
        self._stop_body_timer()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """The answer is written; the client may not have read it."""
        super().on_response_complete()
        self._watch_reading()

    def pause_writing(self) -> None:
        """The client reads more slowly than the answer is written."""
        super().pause_writing()
        self._watch_reading()

    def _look_at_body(self) -> None:
        if self.is_answered():
            self.transport.close()
        else:
            self._body_timer = self.loop.call_later(_PATIENCE_S, self._look_at_body)

    def _watch_reading(self) -> None:
        self._stop_reading_timer()
        self._unread = self.transport.get_write_buffer_size()
        if self._unread:
            self._reading_timer = self.loop.call_later(_PATIENCE_S, self._look_at_reading)

    def _look_at_reading(self) -> None:
        left = self.transport.get_write_buffer_size()
        if left > max(0, self._unread - _LEAST_READ):
            self.transport.abort()
        else:
            self._watch_reading()

    def _start_timer(self) -> None:
        if self._timer is None:
            late = "The head of the request took too long."
            self._timer = self.loop.call_later(_PATIENCE_S, self.refuse, late)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _stop_body_timer(self) -> None:
        if self._body_timer is not None:
            self._body_timer.cancel()
            self._body_timer = None

    def _stop_reading_timer(self) -> None:
        if self._reading_timer is not None:
            self._reading_timer.cancel()
            self._reading_timer = None
