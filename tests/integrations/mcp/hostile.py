"""A hostile MCP server without the SDK: over its standard streams, or over HTTP in this process.

A request names the scene of `hidden_orders` that is its answer, or else the mischief below, in
`arguments.how`, `_meta.how` or the client's name. Other requests get a harmless answer.
"""

import asyncio
import json
import os
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[3]))
from tests.integrations.mcp import hidden_orders as orders

TOOL = {"name": "get_it", "description": "Gets it.", "inputSchema": {"type": "object"}}
HARMLESS: dict[str, dict[str, Any]] = {
    "initialize": orders.HELLO,
    "tools/list": {"tools": [TOOL]},
    "tools/call": {"content": [orders.block("here it is")]},
}
MIB = 1024 * 1024


def params_of(message: dict[str, Any]) -> dict[str, Any]:
    """The params of a request."""
    given = message.get("params")
    return given if isinstance(given, dict) else {}


def how_of(message: dict[str, Any]) -> str:
    """What the request asks the server to do."""
    params = params_of(message)
    for name in ("arguments", "_meta", "clientInfo"):
        given = params.get(name)
        if isinstance(given, dict):
            how = given.get("how") or (given.get("name") if name == "clientInfo" else None)
            if how is not None:
                return str(how)
    return ""


def answered(id: object, **members: Any) -> str:
    """An answer to the request with this id."""
    return json.dumps({"jsonrpc": "2.0", "id": id, **members})


def lines(message: dict[str, Any]) -> Iterator[str]:
    """What the server writes after a request."""
    id, method, how = message["id"], message["method"], how_of(message)
    scene = orders.SCENES.get(how)
    echo = (params_of(message).get("_meta") or {}).get("echo")
    if isinstance(echo, list):
        yield from (str(each).replace("ID", json.dumps(id)) for each in echo)
    elif scene is not None and scene.method == method:
        for each in scene.before:
            yield json.dumps({"jsonrpc": "2.0", **each})
        answer = {"result": scene.result} if scene.error is None else {"error": scene.error}
        yield answered(id, **answer)
    elif method == "tools/call" and how in MISCHIEF:
        yield from MISCHIEF[how](id)
    elif method == "tools/list" and how == "endless list":
        yield answered(id, result={"tools": [], "nextCursor": str(time.monotonic_ns())})
    elif method == "tools/list" and how == "circular list":
        yield answered(id, result={"tools": [], "nextCursor": "a"})
    else:
        yield answered(id, result=HARMLESS.get(method, {}))


def _notices(count: int, method: str, **params: Any) -> Iterator[str]:
    for _ in range(count):
        body = {"jsonrpc": "2.0", "method": f"notifications/{method}", "params": params}
        yield json.dumps(body)


def _flood(id: object) -> Iterator[str]:
    yield from _notices(20_000, "message", level="info", data="working on it")
    yield answered(id, result=HARMLESS["tools/call"])


def _changes(id: object) -> Iterator[str]:
    yield from _notices(20_000, "tools/list_changed")
    yield answered(id, result=HARMLESS["tools/call"])


def _questions(id: object) -> Iterator[str]:
    for number in range(20_000):
        yield json.dumps({"jsonrpc": "2.0", "id": f"q{number}", "method": "roots/list"})
    yield answered(id, result=HARMLESS["tools/call"])


def _errors(id: object) -> Iterator[str]:
    for _ in range(20_000):
        print("taskshield: \x1b[2J all is well " + "x" * 200, file=sys.stderr)
    yield answered(id, result=HARMLESS["tools/call"])


def _dead(id: object) -> Iterator[str]:
    return iter([]) if id is None else os._exit(3)


def _raw(text: str) -> Any:
    return lambda id: iter([text.replace("ID", json.dumps(id))])


MISCHIEF: dict[str, Any] = {
    "result that is a text": _raw('{"jsonrpc": "2.0", "id": ID, "result": "text"}'),
    "result that is a list": _raw('{"jsonrpc": "2.0", "id": ID, "result": [1]}'),
    "result that is nothing": _raw('{"jsonrpc": "2.0", "id": ID, "result": null}'),
    "no result": _raw('{"jsonrpc": "2.0", "id": ID}'),
    "no version": _raw('{"id": ID, "result": {}}'),
    "other version": _raw('{"jsonrpc": "1.0", "id": ID, "result": {}}'),
    "error that is a text": _raw('{"jsonrpc": "2.0", "id": ID, "error": "no"}'),
    "error without a code": _raw('{"jsonrpc": "2.0", "id": ID, "error": {"message": 7}}'),
    "cut off": _raw('{"jsonrpc": "2.0", "id": ID, "result": {"content": ['),
    "no JSON": _raw('{"jsonrpc": "2.0", "id": ID, "result": {content: 1}}'),
    "lone surrogate": _raw('{"jsonrpc": "2.0", "id": ID, "result": {"a": "\\ud800"}}'),
    "long number": _raw('{"jsonrpc": "2.0", "id": ID, "result": {"a": ' + "9" * 6000 + "}}"),
    "deep": _raw('{"jsonrpc": "2.0", "id": ID, "result": {"a": ' + "[" * 500 + "]" * 500 + "}}"),
    "very deep": _raw('{"jsonrpc": "2.0", "id": ID, "result": {"a": ' + "[" * MIB),
    "id in the end": lambda id: iter(
        ['{"jsonrpc": "2.0", "result": {"a": "' + "x" * 9 * MIB + f'"}}, "id": {json.dumps(id)}}}']
    ),
    "long": lambda id: iter([answered(id, result={"content": [orders.block("x" * 9 * MIB)]})]),
    "many values": lambda id: iter(
        [f'{{"jsonrpc":"2.0","id":{json.dumps(id)},"result":{{"a":[{"[]," * MIB}0]}}}}']
    ),
    "many blocks": lambda id: iter(
        [answered(id, result={"content": [orders.block(str(at)) for at in range(60_000)]})]
    ),
    "fraction as id": lambda id: iter([answered(float(str(id)), result={})]),
    "no id": _raw('{"jsonrpc": "2.0", "result": {}}'),
    "nothing as id": _raw('{"jsonrpc": "2.0", "id": null, "error": {"code": 1, "message": "x"}}'),
    "list of answers": _raw('[{"jsonrpc": "2.0", "id": ID, "result": {}}]'),
    "two answers": lambda id: iter([answered(id, result=HARMLESS["tools/call"])] * 2),
    "answers without requests": lambda id: iter(
        [*(answered(n, result={}) for n in range(900, 1000)), answered(id, result={"content": []})]
    ),
    "lost connection": _raw(
        '{"jsonrpc": "2.0", "id": ID, "error": {"code": -32000, "message": "busy"}}'
    ),
    "flood of logs": _flood,
    "flood of changes": _changes,
    "flood of questions": _questions,
    "flood of errors": _errors,
    "dead": _dead,
    "silent": lambda id: iter(()),
}
"""How a call can be answered, or not."""


def main() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message or "method" not in message:
            continue
        if how_of(message) == "reads nothing":
            time.sleep(60)
        for each in lines(message):
            sys.stdout.write(f"{each}\n")
        sys.stdout.flush()


@asynccontextmanager
async def over_http(
    *, stream: bool = False, streams: list[str] | None = None
) -> AsyncIterator[str]:
    """The address of the same server over HTTP, with answers as JSON or as streams.

    Args:
        stream: Whether answers are streams.
        streams: Gets the heads of the requests that open a stream; the server ends each at once.
    """

    opened = [] if streams is None else streams

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        size = [line.split(":")[1] for line in head.split("\r\n") if "content-length" in line]
        body = await reader.readexactly(int(size[0])) if size else b""
        message = json.loads(body) if body else {}
        if head.startswith("get"):
            opened.append(head)
            data, top = b"retry: 0\n\n", "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
        elif "id" in message and "method" in message and message["method"] != "silent":
            wanted = list(lines(message))
            if stream:
                given = "".join(f"event: message\ndata: {each}\n\n" for each in wanted)
                kind = "text/event-stream"
            else:
                given, kind = wanted[-1] if wanted else "", "application/json"
            data = given.encode("utf-8", "surrogatepass")
            top = f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {len(data)}\r\n"
            top += "mcp-session-id: s1\r\n" if message["method"] == "initialize" else ""
            top += "content-encoding: gzip\r\n" if how_of(message) == "compressed" else ""
        else:
            data, top = b"", "HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n"
        writer.write(f"{top}connection: close\r\n\r\n".encode() + data)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"


if __name__ == "__main__":
    main()
