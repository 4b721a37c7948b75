"""Gateways over HTTP: real sockets, the SDK's own client, servers with an address and commands."""

import asyncio
import socket
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import mcp_types as types
import pytest
from mcp import MCPError

from taskshield import AsyncShield
from taskshield.core.errors import ConfigError
from taskshield.integrations.mcp import (
    Address,
    Command,
    Gateway,
    LocalChecks,
    Target,
    http_app,
    serve_http,
)
from tests.integrations.mcp.office import office
from tests.integrations.mcp.stage import (
    EVIL,
    GOOD,
    NOWHERE,
    TASK,
    alive,
    connected,
    judge,
    listening,
    over_http,
    text,
    until,
)
from tests.integrations.mcp.test_link import Desk

pytestmark = pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning")

ROGUE = str(Path(__file__).with_name("rogue.py"))


def rogue(how: str, env: Mapping[str, str] | None = None) -> Command:
    return Command(argv=(sys.executable, ROGUE, how), env=env or {})


@asynccontextmanager
async def served(target: Target, path: str = "/mcp") -> AsyncIterator[str]:
    """The address of a gateway in front of a server."""
    async with AsyncShield(judge()) as shield:
        gateway = Gateway(target, LocalChecks(shield, task=TASK))
        async with listening(http_app({path: gateway})) as here:
            yield here + path


@pytest.mark.shows("MCP", "tool call", "tool output", "streaming", "feedback")
def test_a_hijacked_agents_call_is_blocked_and_progress_streams_in_both_protocols() -> None:
    done: list[str] = []
    seen: list[float] = []

    async def told(progress: float, total: float | None, message: str | None) -> None:
        seen.append(progress)

    async def scene() -> None:
        async with AsyncShield(judge()) as shield:
            checks = LocalChecks(shield, task=TASK)
            async with over_http(checks, office(done=done)) as url:
                for mode, version in (("legacy", "2025-11-25"), ("auto", "2026-07-28")):
                    async with connected(url, mode=mode) as client:
                        assert client.session.protocol_version == version
                        assert len((await client.list_tools()).tools) == 9
                        mail = await client.call_tool("read_mail", {})
                        assert "[Task Shield" in text(mail)
                        evil = await client.call_tool("send_mail", EVIL)
                        assert evil.is_error and "Not carried out" in text(evil)
                        good = await client.call_tool("send_mail", GOOD)
                        assert text(good) == "Sent to dan@office.example."
                        await client.call_tool("count_slowly", {}, progress_callback=told)

    asyncio.run(scene())
    assert done == ["read inbox", "sent to dan@office.example"] * 2
    assert seen == [1.0, 2.0, 3.0] * 2


def test_a_server_reaches_the_client_that_waits_for_it() -> None:
    async def work(ctx: Any) -> str:
        await ctx.session.send_log_message("info", "asking")
        asked = await ctx.session.elicit("Sure?", {"type": "object", "properties": {}})
        return str(asked.action)

    async def asked(ctx: Any, params: Any) -> types.ElicitResult:
        return types.ElicitResult(action="decline")

    logged: list[object] = []

    async def heard(params: Any) -> None:
        logged.append(params.data)

    async def scene() -> None:
        async with AsyncShield(judge()) as shield:
            checks = LocalChecks(shield, task=TASK)
            async with (
                over_http(checks, Desk(work).server) as url,
                connected(url, elicitation_callback=asked, logging_callback=heard) as client,
            ):
                assert text(await client.call_tool("get_it", {})) == "decline"

    asyncio.run(scene())
    assert logged == ["asking"]


def test_each_client_of_a_command_has_a_process_that_ends_with_it(
    capfd: pytest.CaptureFixture[str],
) -> None:
    async def scene() -> None:
        async with served(rogue("env", {"ROGUE": "1"}), "/rogue/mcp") as url:
            async with connected(url, mode="auto") as one, connected(url) as two:
                assert one.session.protocol_version == "2025-06-18"
                for client in (one, two):
                    assert "ROGUE" in text(await client.call_tool("get_it", {}))
                assert all(map(alive, pids := await reported(capfd, 2)))
            assert len(pids) == 2
            await until(lambda: not any(map(alive, pids)))

    asyncio.run(scene())


def test_a_process_that_does_not_want_to_end_is_ended(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcp.client.stdio.PROCESS_TERMINATION_TIMEOUT", 0.05)
    monkeypatch.setattr("mcp.client.stdio.FORCE_KILL_TIMEOUT", 0.05)

    async def scene() -> None:
        async with served(rogue("deaf")) as url:
            async with connected(url) as client:
                assert text(await client.call_tool("get_it", {})) == "here it is"
            (pid,) = await reported(capfd, 1)
            await until(lambda: not alive(pid))

    asyncio.run(scene())


def test_processes_end_with_the_gateway(capfd: pytest.CaptureFixture[str]) -> None:
    async def scene() -> list[int]:
        async with httpx2.AsyncClient() as http, served(rogue("env")) as url:
            await post(http, url, "initialize", HELLO)
            return await reported(capfd, 1)

    (pid,) = asyncio.run(scene())
    assert not alive(pid)


@pytest.mark.parametrize(
    ("target", "words"),
    [
        (Command(argv=("/no/such/program",)), "cannot be started: No such file or directory"),
        (Command(argv=("\0",)), "cannot be started: the command is not valid"),
        (rogue("dead"), "The wrapped server has ended"),
        (Address(url="http://127.0.0.1:9/mcp"), "The connection to the wrapped server failed"),
    ],
)
def test_a_server_that_is_not_there_is_an_error_for_the_client(target: Target, words: str) -> None:
    async def scene() -> list[str]:
        async with served(target) as url, httpx2.AsyncClient() as http:
            hello = await post(http, url, "initialize", HELLO)
            alone = await post(http, url, "tools/call", ALONE, headers=ALONE_HEADERS)
            return [hello.text, alone.text]

    hello, alone = asyncio.run(scene())
    assert words in hello and "Traceback" not in hello
    expected = words if isinstance(target, Address) else "with a protocol that has a handshake"
    assert expected in alone


def test_more_clients_than_a_gateway_can_have_get_a_clear_error(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("taskshield.integrations.mcp.connections.http._MOST_SESSIONS", 2)

    async def scene() -> None:
        async with httpx2.AsyncClient() as http, served(rogue("env")) as url:
            answers = [await post(http, url, "initialize", HELLO) for _ in range(4)]
            assert [answer.status_code for answer in answers] == [200, 200, 503, 503]
            assert "Too many open sessions" in answers[2].json()["error"]["message"]
            gone = {"mcp-session-id": answers[0].headers["mcp-session-id"]}
            await http.delete(url, headers=gone)
            assert (await post(http, url, "initialize", HELLO)).status_code == 200

    asyncio.run(scene())


def test_a_client_that_says_nothing_for_long_has_ended(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("taskshield.integrations.mcp.connections.http._IDLE_S", 0.3)

    async def scene() -> None:
        async with httpx2.AsyncClient() as http, served(rogue("env")) as url:
            hello = await post(http, url, "initialize", HELLO)
            assert hello.status_code == 200
            (pid,) = await reported(capfd, 1)
            await until(lambda: not alive(pid))

    asyncio.run(scene())


def test_more_independent_requests_than_a_gateway_can_have_get_a_clear_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("taskshield.integrations.mcp.connections.http._MOST_INDEPENDENT", 1)
    done: list[str] = []

    async def scene() -> None:
        async with AsyncShield(judge()) as shield:
            checks = LocalChecks(shield, task=TASK)
            async with (
                over_http(checks, office(done=done)) as url,
                connected(url, mode="auto") as one,
                connected(url, mode="auto") as two,
            ):
                waiting = asyncio.create_task(one.call_tool("wait", {}))
                await until(lambda: "waiting" in done)
                with pytest.raises(MCPError, match="The gateway is busy"):
                    await two.call_tool("read_mail", {})
                waiting.cancel()
                await until(lambda: "stopped waiting" in done)

    asyncio.run(scene())


def test_pages_of_other_sites_cannot_use_a_gateway() -> None:
    async def scene() -> None:
        async with served(NOWHERE) as url, httpx2.AsyncClient() as http:
            for headers in ({"host": "evil.example"}, {"origin": "http://evil.example"}):
                answer = await post(http, url, "initialize", HELLO, headers=headers)
                assert answer.status_code in (403, 421)

    asyncio.run(scene())


@pytest.mark.parametrize(
    ("host", "port", "words"),
    [
        ("0.0.0.0", 0, "Other machines could use"),
        ("127.0.0.1", 70_000, "no such port"),
        ("127.0.0.1", None, "cannot be used: Address already in use"),
    ],
)
def test_an_address_that_cannot_be_used_is_refused(host: str, port: int | None, words: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        used = taken.getsockname()[1]
        with pytest.raises(ConfigError, match=words):
            asyncio.run(serve_http({}, host, used if port is None else port))


ALONE = {
    "name": "get_it",
    "arguments": {},
    "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    },
}
ALONE_HEADERS = {
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": "get_it",
}
HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "c", "version": "1"},
}


async def post(http: Any, url: str, method: str, params: Any, **more: Any) -> httpx2.Response:
    headers = {"accept": "application/json, text/event-stream", **more.pop("headers", {})}
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    answer: httpx2.Response = await http.post(url, json=body, headers=headers)
    return answer


async def reported(capfd: pytest.CaptureFixture[str], count: int) -> list[int]:
    """The same, as soon as there are so many."""
    found: list[int] = []

    def enough() -> bool:
        found.extend(started(capfd))
        return len(found) >= count

    await until(enough)
    return found


def started(capfd: pytest.CaptureFixture[str]) -> list[int]:
    """Ids of the processes that have reported themselves."""
    lines = capfd.readouterr().err.splitlines()
    return [int(line.split()[1]) for line in lines if line.startswith("rogue ")]
