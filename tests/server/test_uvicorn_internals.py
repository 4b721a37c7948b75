"""What `server.uvicorn_internals` relies on. A failure here means that uvicorn has changed it."""

import asyncio
import inspect

import pytest
import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from taskshield.server.uvicorn_internals import RefusableConnection, ReportingServer


@pytest.mark.parametrize("stage", ["startup", "shutdown"])
def test_the_stages_of_a_server_are_awaited_with_its_sockets(stage: str) -> None:
    method = getattr(uvicorn.Server, stage)
    assert inspect.iscoroutinefunction(method)
    assert list(inspect.signature(method).parameters) == ["self", "sockets"]


def test_a_server_reports_that_it_listens_and_that_it_stops() -> None:
    reports: list[str] = []

    class Reported(ReportingServer):
        def listening(self, sockets: object) -> None:
            reports.append(f"listening: {self.started}")
            self.should_exit = True

        async def stopping(self) -> None:
            reports.append(f"stopping: {[server.is_serving() for server in self.servers]}")

    async def app(scope: object, receive: object, send: object) -> None:
        pass

    config = uvicorn.Config(app, host="127.0.0.1", port=0, lifespan="off", log_config=None)
    asyncio.run(Reported(config).serve())
    assert reports == ["listening: True", "stopping: [True]"]


def test_a_connection_has_the_hooks_of_the_parser_and_of_the_transport() -> None:
    hooks = ("connection_made", "connection_lost", "data_received", "pause_writing")
    for hook in (*hooks, "on_headers_complete", "on_message_complete", "on_response_complete"):
        assert hook in vars(HttpToolsProtocol), hook


def test_a_connection_knows_its_loop_its_transport_and_its_answer() -> None:
    source = inspect.getsource(HttpToolsProtocol.__init__)
    for attribute in ("self.loop", "self.transport", "self.cycle"):
        assert attribute in source, attribute
    assert "self.response_complete = False" in inspect.getsource(RequestResponseCycle.__init__)


def test_a_request_can_be_refused_with_a_reason() -> None:
    assert issubclass(RefusableConnection, HttpToolsProtocol)
    assert list(inspect.signature(HttpToolsProtocol.send_400_response).parameters) == [
        "self",
        "msg",
    ]
