"""Servers that answer badly, too much, too often or not at all: every client gets an answer."""

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from taskshield.integrations.mcp import Address, Command
from tests.integrations.mcp import hostile
from tests.integrations.mcp.hidden_orders import SNAKE, reveals
from tests.integrations.mcp.wiretap import STDIO, reader, tapped

REDACT = {"output": "redact"}

UNREADABLE = [
    *("result that is a text", "result that is a list", "result that is nothing", "no result"),
    *("no version", "other version", "error that is a text", "error without a code", "cut off"),
    *("no JSON", "lone surrogate", "long number", "deep", "very deep", "id in the end", "long"),
    *("many values", "fraction as id", "no id"),
]
"""Answers that cannot be read."""
BAD_ANSWER = "The wrapped server's answer cannot be read."


async def answers(names: list[str], stream: bool | None) -> dict[str, Any]:
    """The answers to calls in one connection each; over HTTP if `stream` says how."""
    found = {}

    async def ask(target: Any) -> None:
        for name in names:
            async with tapped(target) as tap:
                found[name] = await tap.call(name)
                usual = await tap.call("")  # the connection has not ended
                assert usual["result"]["content"][0]["text"] == "here it is", name

    if stream is None:
        await ask(STDIO)
    else:
        async with hostile.over_http(stream=stream) as url:
            await ask(Address(url=url))
    return found


@pytest.mark.parametrize("stream", [None, False, True])
def test_an_answer_that_cannot_be_read_is_an_error(stream: bool | None) -> None:
    found = asyncio.run(answers(UNREADABLE, stream))
    for name, answer in found.items():
        assert answer["error"]["message"].startswith((BAD_ANSWER, "SSE stream failed")), name


@pytest.mark.parametrize("stream", [False, True])
def test_an_answer_to_another_request_is_an_error_over_http(stream: bool) -> None:
    found = asyncio.run(answers(["silent"], stream))
    assert "error" in found["silent"]


@pytest.mark.parametrize("how", ["list of answers", "nothing as id"])
def test_an_answer_without_an_id_is_for_the_only_request(how: str) -> None:
    found = asyncio.run(answers([how], None))
    assert found[how]["error"]["message"] == BAD_ANSWER


def test_more_answers_than_requests_do_no_harm() -> None:
    names = ["two answers", "answers without requests"]
    found = asyncio.run(answers(names, None))
    assert all("content" in found[name]["result"] for name in names)


def test_an_error_like_that_of_a_lost_connection_is_the_servers_error() -> None:
    for stream in (None, False, True):
        found = asyncio.run(answers(["lost connection"], stream))
        assert found["lost connection"]["error"] == {"code": -32000, "message": "busy"}


def test_a_server_that_never_answers_is_an_error_after_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("taskshield.integrations.mcp.connections.pending._SILENCE_S", 0.3)
    found = asyncio.run(answers(["silent"], None))
    assert found["silent"]["error"]["message"] == "The wrapped server did not answer in time."


def test_a_server_that_dies_while_it_is_called_is_an_error() -> None:
    async def scene() -> None:
        async with tapped() as tap:
            lost = [tap.call("silent"), tap.call("silent"), tap.call("dead")]
            for answer in await asyncio.gather(*lost):
                assert answer["error"]["message"] == "The wrapped server has ended."
            assert "error" in await tap.call("")

    asyncio.run(scene())


def test_a_result_with_too_many_blocks_is_withheld_and_other_clients_go_on() -> None:
    async def scene() -> None:
        async with tapped() as one, tapped() as other:
            waits: list[float] = []
            slow = asyncio.create_task(one.call("many blocks"))
            while not slow.done():
                began = time.monotonic()
                await other.call("")
                waits.append(time.monotonic() - began)
            assert "cannot be checked" in str((await slow)["result"])
            assert len(waits) > 1

    asyncio.run(scene())


@pytest.mark.parametrize("how", ["flood of logs", "flood of changes", "flood of questions"])
def test_a_flood_is_dropped(how: str, caplog: pytest.LogCaptureFixture) -> None:
    async def scene() -> int:
        async with tapped() as tap:
            assert (await tap.call(how))["result"]["content"][0]["text"] == "here it is"
            return len(tap.received)

    assert asyncio.run(scene()) < 2_000
    assert caplog.text.count("dropped some") == 1


def test_a_flood_of_errors_is_cut_and_cannot_pose_as_the_gateways_own(
    capfd: pytest.CaptureFixture[str],
) -> None:
    async def scene() -> None:
        async with tapped() as tap:
            await tap.call("flood of errors")

    asyncio.run(scene())
    shown = capfd.readouterr().err
    assert "\x1b" not in shown and len(shown) < 2_000_000
    assert not any(line.startswith("taskshield:") for line in shown.splitlines())


def test_a_server_that_reads_nothing_keeps_no_client_waiting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("taskshield.integrations.mcp.connections.pending._SILENCE_S", 0.5)
    monkeypatch.setattr("mcp.shared.jsonrpc_dispatcher._ABANDON_WRITE_TIMEOUT", 0.1)
    monkeypatch.setattr("mcp.client.stdio.PROCESS_TERMINATION_TIMEOUT", 0.05)

    async def scene() -> None:
        async with tapped() as tap:
            given = {"name": "get_it", "arguments": {"how": "reads nothing", "a": "x" * 300_000}}
            calls = [tap.ask("tools/call", given) for _ in range(3)]
            for answer in await asyncio.gather(*calls):
                assert "did not answer in time" in answer["error"]["message"]

    asyncio.run(scene())


@pytest.mark.parametrize("how", ["endless list", "circular list"])
def test_a_list_of_tools_that_does_not_end_allows_no_call(how: str) -> None:
    async def scene() -> None:
        async with tapped() as tap:
            given = {"name": "other", "arguments": {}, "_meta": {"how": how}}
            answer = await tap.ask("tools/call", given)
            assert "does not end" in answer["error"]["message"]

    asyncio.run(scene())


def test_an_answer_in_small_drops_does_not_take_quadratic_time(tmp_path: Path) -> None:
    program = tmp_path / "drops.py"
    program.write_text(
        "import sys, json\n"
        "for line in sys.stdin:\n"
        "    id = json.loads(line).get('id')\n"
        '    start = \'{"jsonrpc": "2.0", "id": %s, "result": {"a": "\' % id\n'
        "    sys.stdout.write(start)\n"
        "    for _ in range(20000):\n"
        "        sys.stdout.write('x' * 300); sys.stdout.flush()\n"
        "    sys.stdout.write('\"}}\\n'); sys.stdout.flush()\n"
    )

    async def scene() -> None:
        target = Command(argv=(STDIO.argv[0], str(program)))
        async with tapped(target, hello=False) as tap:
            answer = await tap.ask("ping", {}, within=30)
            assert answer["result"] == {}

    asyncio.run(scene())


@pytest.mark.parametrize("stream", [False, True])
def test_a_compressed_answer_is_an_error(stream: bool) -> None:
    found = asyncio.run(answers(["compressed"], stream))
    assert found["compressed"]["error"]["message"] == BAD_ANSWER


def test_a_server_that_ends_its_stream_at_once_is_not_asked_without_end() -> None:
    streams: list[str] = []

    async def scene() -> None:
        async with hostile.over_http(streams=streams) as url, tapped(Address(url=url)) as tap:
            await tap.note("notifications/initialized")
            await asyncio.sleep(1.2)

    asyncio.run(scene())
    assert 1 <= len(streams) <= 3


ODD_HTTP = {
    "server error": ("500 Oops", "text/html", "<p>ORDER</p>"),
    "bad request": ("400 Bad", "application/json", '{"jsonrpc":"2.0","id":null,"error":ERROR}'),
    "not found": ("404 Gone", "application/json", '{"detail": "ORDER"}'),
    "moved": ("302 Found\r\nlocation: http://127.0.0.1:1/ORDER", "text/plain", ""),
    "plain": ("200 OK", "text/plain", "ORDER"),
    "odd type": ("200 OK", "ORDER", "ORDER"),
    "empty": ("200 OK", "application/json", ""),
    "nothing": ("204 No Content", "text/plain", ""),
    "accepted": ("202 Accepted", "application/json", ""),
    "event that is no JSON": ("200 OK", "text/event-stream", "data: ORDER\n\n"),
    "events without an answer": ("200 OK", "text/event-stream", ": ORDER\n\n"),
    "other event": ("200 OK", "text/event-stream", "event: ORDER\ndata: {}\n\n"),
}


@pytest.mark.parametrize("how", ODD_HTTP)
def test_an_odd_http_answer_is_an_error_and_its_words_are_judged(how: str) -> None:
    status, kind, body = ODD_HTTP[how]
    error = '{"code": 1, "message": "ORDER"}'

    async def serve(incoming: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await incoming.readuntil(b"\r\n\r\n")
        given = f"HTTP/1.1 {status}\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n{body}"
        writer.write(given.replace("ERROR", error).replace("ORDER", SNAKE).encode())
        writer.close()

    async def scene() -> None:
        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"
            target = Address(url=url)
            async with tapped(target, by=reader(), hello=False, policy=REDACT) as tap:
                answer = await tap.ask("ping", {})
                assert "error" in answer and not reveals(answer)

    asyncio.run(scene())


def test_an_error_in_the_gateway_quotes_nothing(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(*given: object) -> None:
        raise RuntimeError(SNAKE)

    monkeypatch.setattr("taskshield.integrations.mcp.gateway.greeting.reviewed", broken)

    async def scene() -> None:
        async with tapped(hello=False) as tap:
            answer = await tap.ask("initialize", {})
            assert answer["error"]["message"] == "The gateway could not answer this."

    asyncio.run(scene())
    assert "could not answer a request (RuntimeError)" in caplog.text and SNAKE not in caplog.text
