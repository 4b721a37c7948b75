"""An HTTP client for a wrapped server: bodies within limits, and every request gets an answer."""

import json
from typing import Any

import anyio
import anyio.to_thread
import httpx2
from mcp_types import JSONRPCError, JSONRPCResponse, RequestId

from taskshield.integrations.mcp.connections import wire

_BODY_S = 60.0
"""Longest time from the head of a JSON answer to its end."""
_PACE_S = 1.0
"""Shortest time between two attempts to open a stream: the server says how long to wait."""


class LimitedClient(httpx2.AsyncClient):
    """A client whose JSON answers are read at once, within limits.

    A JSON answer that is too big, compressed, cut off or for another request becomes an error for
    the request.
    """

    _next_stream = 0.0

    async def send(
        self, request: httpx2.Request, *, stream: bool = False, **options: Any
    ) -> httpx2.Response:
        """Send a request."""
        if request.method == "GET":
            await self._wait_for_turn()
        response = await super().send(request, stream=True, **options)
        kind = response.headers.get("content-type", "").lower()
        coded = response.headers.get("content-encoding", "identity").lower() != "identity"
        if kind.startswith("text/event-stream") and stream and not coded:
            return response
        body = None if coded else await _body(response)
        await response.aclose()
        id = _id_of(request)
        if id is not None and (body is None or (response.is_success and _is_json(kind))):
            long = body is not None and len(body) > wire.SHORT
            body = await anyio.to_thread.run_sync(_answer, body, id) if long else _answer(body, id)
            kind = "application/json"
        return _rebuilt(response, b"" if body is None else body, kind)

    async def _wait_for_turn(self) -> None:
        now = anyio.current_time()
        turn = max(self._next_stream, now)
        self._next_stream = turn + _PACE_S
        await anyio.sleep(turn - now)


async def _body(response: httpx2.Response) -> bytes | None:
    """The whole body; None if it is too long, too slow or cut off."""
    chunks: list[bytes] = []
    length = 0
    try:
        with anyio.fail_after(_BODY_S):
            async for chunk in response.aiter_raw():
                chunks.append(chunk)
                length += len(chunk)
                if length > wire.MOST_BYTES:
                    return None
    except (httpx2.HTTPError, httpx2.StreamError, TimeoutError):
        return None
    return b"".join(chunks)


def _answer(body: bytes | None, id: RequestId) -> bytes:
    """The body if it answers the request with this id, otherwise an error that does."""
    try:
        message = None if body is None else wire.parsed(body)
    except ValueError:
        message = None
    if body is not None and isinstance(message, JSONRPCResponse | JSONRPCError):
        if message.id == id:
            return body
    return wire.failure(id).model_dump_json(by_alias=True, exclude_unset=True).encode()


def _is_json(kind: str) -> bool:
    return kind.startswith("application/json")


def _id_of(request: httpx2.Request) -> RequestId | None:
    """The id of the request in a body; notifications have none."""
    if request.method != "POST":
        return None
    message = json.loads(request.content)
    id = message.get("id") if "method" in message else None
    return id if isinstance(id, int | str) else None


def _rebuilt(response: httpx2.Response, body: bytes, kind: str) -> httpx2.Response:
    dropped = ("content-encoding", "content-length", "content-type", "transfer-encoding")
    headers = [(key, value) for key, value in response.headers.multi_items() if key not in dropped]
    made = httpx2.Response(
        response.status_code,
        headers=[*headers, ("content-type", kind)],
        content=body,
        request=response.request,
    )
    made.next_request = response.next_request
    return made
