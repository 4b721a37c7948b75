"""Limits of a request: the length and the nesting of its body, and the time it takes.

The number of messages is limited by `SessionChecker`, which counts them on every surface.
"""

import asyncio
import json
import re
from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from taskshield.server.http.errors import RequestError
from taskshield.settings import LimitSettings

_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
"""A string without an end extends to the end of the text, so that everything is read only once."""
_BRACKET = re.compile(rb"[\[\]{}]")


def nested_deeper(body: bytes, depth: int) -> bool:
    """Whether JSON is nested deeper than this. Does not parse it."""
    if body.count(b"[") + body.count(b"{") <= depth:
        return False
    level = 0
    for bracket in _BRACKET.findall(_STRING.sub(b"", body)):
        level += 1 if bracket in b"[{" else -1
        if level > depth:
            return True
    return False


@dataclass(slots=True)
class _Body:
    """The body of a request on its way to the app; a JSON body is buffered until it is complete."""

    receive: Receive
    limits: LimitSettings
    is_json: bool
    length: int = 0
    chunks: list[bytes] = field(default_factory=list)
    complete: bool = False

    async def __call__(self) -> Message:
        while True:
            message = await self.receive()
            if message["type"] != "http.request" or self.complete:
                return message
            chunk = message.get("body", b"")
            self.length += len(chunk)
            if self.length > self.limits.body_bytes:
                raise _too_long(self.limits)
            self.complete = not message.get("more_body", False)
            if not self.is_json:
                return message
            self.chunks.append(chunk)
            if self.complete:
                return {"type": "http.request", "body": self._checked(), "more_body": False}

    def _checked(self) -> bytes:
        body = b"".join(self.chunks)
        self.chunks.clear()
        if nested_deeper(body, self.limits.depth):
            raise RequestError(
                400, "too_deep", f"The body is nested more than {self.limits.depth} levels deep."
            )
        return body


class Limits:
    """Middleware that raises an error for each request beyond the limits."""

    def __init__(self, app: ASGIApp, limits: LimitSettings) -> None:
        self._app = app
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        length = headers.get(b"content-length", b"")
        if length.isdigit() and int(length) > self._limits.body_bytes:
            raise _too_long(self._limits)
        body = _Body(
            receive, self._limits, is_json=b"json" in headers.get(b"content-type", b"").lower()
        )
        if not scope["state"]["surface"].timed:
            await self._app(scope, body, send)
            return
        await self._call_in_time(scope, body, send)

    async def _call_in_time(self, scope: Scope, body: _Body, send: Send) -> None:
        """Call the app, which must start its response within the time limit."""
        try:
            async with asyncio.timeout(self._limits.request_s) as limit:

                async def send_in_time(message: Message) -> None:
                    limit.reschedule(None)
                    await send(message)

                await self._app(scope, body, send_in_time)
        except TimeoutError:
            if not limit.expired():
                raise
            status, code = (504, "timeout") if body.complete else (408, "request_timeout")
            late = f"The request took longer than {self._limits.request_s:g} seconds."
            raise RequestError(status, code, late) from None


async def json_body(request: Request) -> object:
    """The body of a request as JSON.

    Raises:
        RequestError: It is not JSON.
    """
    try:
        return json.loads(await request.body())
    except (ValueError, RecursionError):  # a number that is too long is a ValueError as well
        raise RequestError(400, "invalid_request", "The body is not valid JSON.") from None


def _too_long(limits: LimitSettings) -> RequestError:
    return RequestError(413, "too_large", f"The body is longer than {limits.body_bytes} bytes.")
