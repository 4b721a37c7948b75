"""Limits the time and the length of a request's head, which uvicorn does not.

The limits of bodies are in `limits`.
"""

import asyncio

from taskshield.server.uvicorn_internals import RefusableConnection

LONGEST = 64 * 1024
"""Most bytes of a request's head; a little more if they arrive together."""
_PATIENCE_S = 30.0
"""Longest time for it, from the opening of the connection or from its first byte."""


class Connection(RefusableConnection):
    """One connection of a client."""

    _in_head = True
    _length = 0
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start to wait for a request."""
        super().connection_made(transport)
        self._start_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop to wait."""
        self._stop_timer()
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
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The request is complete; the next bytes are the head of another one."""
        self._in_head = True
        super().on_message_complete()

    def _start_timer(self) -> None:
        if self._timer is None:
            late = "The head of the request took too long."
            self._timer = self.loop.call_later(_PATIENCE_S, self.refuse, late)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
