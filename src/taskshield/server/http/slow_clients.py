"""Connections whose clients cannot take for ever, or all memory, to say what they want.

uvicorn gives a client any time for the head of a request, and any length. Bodies have `limits`.
"""

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

LONGEST = 64 * 1024
"""Bytes of a request's head; a little more where they come at once."""
_PATIENCE_S = 30.0
"""Time for it, from the opening of the connection or from its first byte."""


class Connection(HttpToolsProtocol):
    """One connection."""

    _in_head = True
    _length = 0
    _end: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._wait_no_longer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on, unless it is too much."""
        if self._in_head:
            self._wait()
            self._length += len(data)
        super().data_received(data)
        if self._length > LONGEST:
            self._refuse("The head of the request is too long.")

    def on_headers_complete(self) -> None:
        """The head of a request is there."""
        self._in_head = False
        self._length = 0
        self._wait_no_longer()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """A request is there to its end; what comes now is the head of the next one."""
        self._in_head = True
        super().on_message_complete()

    def _wait(self) -> None:
        if self._end is None:
            late = "The head of the request took too long."
            self._end = self.loop.call_later(_PATIENCE_S, self._refuse, late)

    def _wait_no_longer(self) -> None:
        if self._end is not None:
            self._end.cancel()
            self._end = None

    def _refuse(self, why: str) -> None:
        if self.transport.is_closing():
            return
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is None or cycle.response_complete:
            self.send_400_response(why)
        else:
            self.transport.close()  # an answer is under way, and nothing may be put into it
