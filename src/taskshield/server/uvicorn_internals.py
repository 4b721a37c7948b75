"""What the server uses of uvicorn though uvicorn does not document it.

uvicorn documents `Config` and `Server(config).serve()`. It has no public way to act between the
signal to stop and the end of open requests, and none to refuse a request before it is complete.
Only this module relies on names for that; `tests/server/test_uvicorn_internals.py` fails when a
release of uvicorn changes one of them.
"""

import socket

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle


class ReportingServer(uvicorn.Server):
    """uvicorn's server, which reports when it listens and before it stops."""

    def listening(self, sockets: list[socket.socket]) -> None:
        """The server accepts connections."""

    async def stopping(self) -> None:
        """The server is about to stop; it still accepts connections, and requests are open."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then report it."""
        await super().startup(sockets)
        self.listening([] if sockets is None else sockets)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Report it, then stop accepting, let open requests end and close everything."""
        await self.stopping()
        await super().shutdown(sockets)


class RefusableConnection(HttpToolsProtocol):
    """uvicorn's connection, which can refuse a request whose head is not complete."""

    def refuse(self, why: str) -> None:
        """Answer with status 400, or just close if an earlier answer is not finished."""
        if self.transport.is_closing():
            return
        cycle: RequestResponseCycle | None = self.cycle  # uvicorn's own hint leaves the None out
        if cycle is None or cycle.response_complete:
            self.send_400_response(why)
        else:
            self.transport.close()  # nothing may be put into an answer that is under way

    def is_answered(self) -> bool:
        """Whether the answer to the last request is complete."""
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is not None and cycle.response_complete
