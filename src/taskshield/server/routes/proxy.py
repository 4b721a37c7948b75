"""The proxy: all paths under /v1.

Requests for a response of a model are guarded. Of the others those pass unchanged whose answers ask
agents for nothing.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import APIRouter, FastAPI
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from taskshield.adapters.proxy.wire_formats import BY_PATH
from taskshield.server.access.auth import Caller
from taskshield.server.http.errors import Problem
from taskshield.server.http.surfaces import Surface
from taskshield.server.proxy.disconnects import CLIENT_CLOSED_REQUEST, ClientDisconnected
from taskshield.server.proxy.handler import Proxy
from taskshield.server.proxy.paths import segments_of
from taskshield.server.proxy.provider import ProviderClient
from taskshield.server.services import Services, authorize

NAME = "proxy"

_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
_KINDS = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
}


async def proxied(request: Request) -> Response:
    """Answer a request of a client of OpenAI or Anthropic."""
    caller = await authorize(request, "proxy", local=True)
    try:
        return await _forward(request, caller)
    except (ClientDisconnected, ClientDisconnect):
        return Response(status_code=CLIENT_CLOSED_REQUEST)


async def _forward(request: Request, caller: Caller) -> Response:
    proxy: Proxy = request.app.state.proxy
    segments = segments_of(request.scope["path"], request.scope["raw_path"])
    # The provider may accept other spellings of a guarded path, so those are guarded as well.
    path = f"/{'/'.join(segments)}".lower()
    wire_format = BY_PATH.get(path)
    if wire_format is not None and request.method == "POST":
        return await proxy.guarded(request, caller, path, wire_format)
    if path.startswith("/v1/responses/") and len(segments) == 3 and request.method == "GET":
        return await proxy.stored(request, caller.tenant, segments[2])
    return await proxy.passed(request, path)


def render(problem: Problem) -> Response:
    """An error in a format that the SDKs of OpenAI and Anthropic both understand."""
    kind = _KINDS.get(
        problem.status, "api_error" if problem.status >= 500 else "invalid_request_error"
    )
    error = {"type": kind, "message": problem.message, "param": None, "code": problem.code}
    return JSONResponse(
        {"type": "error", "error": error},
        status_code=problem.status,
        headers=dict(problem.headers),
    )


@asynccontextmanager
async def _connected(app: FastAPI) -> AsyncIterator[None]:
    """Keep connections to the providers open while the server runs."""
    server: Services = app.state.services
    async with ProviderClient(server.settings.server.upstream) as provider:
        app.state.proxy = Proxy(
            provider,
            checker=server.checker,
            store=server.store,
            metrics=server.metrics,
            settings=server.settings,
            surface=NAME,
        )
        yield


SURFACE = Surface(
    name=NAME,
    prefixes=("/v1",),
    router=APIRouter(
        routes=[Route("/v1/{path:path}", proxied, methods=_METHODS)], lifespan=_connected
    ),
    render=render,
    timed=False,
)
