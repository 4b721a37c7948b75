"""The outermost middleware: every request gets an id, a response, a log line and a count."""

import logging
import time
import uuid
from collections.abc import Sequence

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from taskshield.core.errors import StoreError
from taskshield.server.http.errors import problem_of
from taskshield.server.http.surfaces import Surface, surface_of
from taskshield.server.operations import telemetry
from taskshield.server.operations.logs import log
from taskshield.server.operations.metrics import Metrics

REQUEST_ID = "x-request-id"
_HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
"""Headers of every response that does not set them itself, as the dashboard and providers may."""


class RequestMiddleware:
    """Finds the surface of a request and renders exceptions in its format."""

    def __init__(self, app: ASGIApp, surfaces: Sequence[Surface], metrics: Metrics) -> None:
        self._app = app
        self._surfaces = surfaces
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        surface = surface_of(scope["path"], self._surfaces)
        response = _ResponseSender(send, uuid.uuid4().hex)
        scope.setdefault("state", {}).update(surface=surface, request_id=response.id)
        began = time.perf_counter()
        with telemetry.request_span(scope["method"], surface.name, Headers(scope=scope)) as span:
            try:
                await self._app(scope, receive, response)
            except Exception as error:
                await self._failed(error, surface, response, scope, receive)
            finally:
                seconds = time.perf_counter() - began
                telemetry.record_status(span, response.status)
                self._metrics.count_request(surface.name, response.status, seconds)
                log(
                    "request",
                    id=response.id,
                    surface=surface.name,
                    method=scope["method"],
                    route=getattr(scope.get("route"), "path", None),
                    status=response.status,
                    ms=round(seconds * 1000, 1),
                )

    async def _failed(
        self,
        error: Exception,
        surface: Surface,
        response: "_ResponseSender",
        scope: Scope,
        receive: Receive,
    ) -> None:
        if isinstance(error, StoreError):
            self._metrics.count_store_failure()
        problem = problem_of(error)
        if problem.status >= 500:
            log("failed", level=logging.ERROR, error=error, id=response.id, surface=surface.name)
        if response.status:
            raise error  # the response has begun: the connection can only be closed
        await surface.render(problem)(scope, receive, response)


class _ResponseSender:
    """Sends the response with its id, by which the logs name it, and with `_HEADERS`."""

    def __init__(self, send: Send, id: str) -> None:
        self._send = send
        self.id = id
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            headers[REQUEST_ID] = self.id
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
        await self._send(message)
