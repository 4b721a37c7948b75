"""A gateway at standard streams, in this process, in front of servers that misbehave."""

import asyncio
import json
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from taskshield import AsyncShield
from taskshield.core.errors import UpstreamError
from taskshield.integrations.mcp import Command, Gateway, LocalChecks, serve_stdio
from tests.integrations.mcp import rogue
from tests.integrations.mcp.stage import judge, until

Captured = pytest.CaptureFixture[str]
CALL = {"name": "get_it", "arguments": {}}
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {}}


class Client:
    """Writes to the gateway's standard input, and reads what it has written."""

    def __init__(self, capfd: Captured, write_end: int) -> None:
        self._capfd = capfd
        self._write_end = write_end
        self._read = ""
        self.errors = ""

    def send(self, line: str) -> None:
        os.write(self._write_end, f"{line}\n".encode())

    async def ask(self, method: str, params: Any, id: object = 1) -> Any:
        body = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
        self.send(json.dumps(body))
        await until(lambda: id in {answer["id"] for answer in self.answers()})
        return next(answer for answer in self.answers() if answer["id"] == id)

    def answers(self) -> list[Any]:
        out, err = self._capfd.readouterr()
        self._read += out
        self.errors += err
        return [json.loads(line) for line in self._read.splitlines()]

    def leave(self) -> None:
        with suppress(OSError):
            os.close(self._write_end)


@pytest.fixture
def client(capfd: Captured, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    read_end, write_end = os.pipe()

    def opened(descriptor: int, mode: str, closefd: bool) -> Any:
        assert (descriptor, mode, closefd) == (0, "rb", False)
        return os.fdopen(read_end, mode)

    monkeypatch.setattr("taskshield.integrations.mcp.connections.stdio.open", opened, raising=False)
    given = Client(capfd, write_end)
    yield given
    given.leave()


async def serving(*argv: str) -> None:
    async with AsyncShield(judge()) as shield:
        checks = LocalChecks(shield, task="Get it.")
        await serve_stdio(Gateway(Command(argv=argv), checks))


def played(how: str) -> "asyncio.Task[None]":
    return asyncio.create_task(serving(sys.executable, rogue.__file__, how))


def test_garbage_of_either_side_is_ignored(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "taskshield")

    async def scene() -> None:
        gateway = played("garbage")
        client.send("not JSON")
        hello = await client.ask("initialize", HELLO)
        assert hello["result"]["serverInfo"]["name"] == "rogue"
        got = await client.ask("tools/call", CALL, "two")
        assert got["result"] == {"content": [{"type": "text", "text": "here it is"}]}
        assert len(client.answers()) == 2
        client.leave()
        await gateway

    asyncio.run(scene())
    ours = [each.getMessage() for each in caplog.records if each.name.startswith("taskshield")]
    assert ours == ["ignored output of the wrapped server that is not MCP"]
    assert rogue.SECRET in client.errors


def test_a_server_that_dies_is_an_error_and_the_end(client: Client) -> None:
    async def scene() -> None:
        gateway = played("dies")
        await client.ask("initialize", HELLO)
        lost = await client.ask("tools/call", CALL, 2)
        assert lost["error"] == {"code": -32000, "message": "The wrapped server has ended."}
        with pytest.raises(UpstreamError, match="ended before its client did"):
            await gateway

    asyncio.run(scene())


@pytest.mark.usefixtures("client")
def test_a_server_that_cannot_be_started_is_the_end() -> None:
    async def scene() -> None:
        with pytest.raises(UpstreamError, match="cannot be started: No such file or directory"):
            await serving("/no/such/program")

    asyncio.run(scene())


def test_a_call_that_hangs_does_not_keep_a_client_that_leaves(client: Client) -> None:
    async def scene() -> None:
        gateway = played("mute")
        await client.ask("initialize", HELLO)
        body = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": CALL}
        client.send(json.dumps(body))
        client.leave()
        await gateway

    asyncio.run(scene())
