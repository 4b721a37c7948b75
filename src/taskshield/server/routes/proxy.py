"""The proxy: everything under /v1, on its way to a model's provider and back.

Requests for answers of a model are guarded; all others pass as they are.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import APIRouter, FastAPI
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from taskshield.adapters.proxy.wire_formats import BY_PATH
from taskshield.server.access.auth import Caller
from taskshield.server.http.errors import Problem, RequestError
from taskshield.server.http.surfaces import Surface
from taskshield.server.proxy.disconnects import CLIENT_CLOSED_REQUEST, ClientDisconnected
from taskshield.server.proxy.handler import Proxy
from taskshield.server.proxy.provider import ProviderClient
from taskshield.server.services import Services, admitted

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
    """Whatever a client of OpenAI or Anthropic asks for."""
    caller = await admitted(request, "proxy")
    try:
        return await _served(request, caller)
    except (ClientDisconnected, ClientDisconnect):
        return Response(status_code=CLIENT_CLOSED_REQUEST)


async def _served(request: Request, caller: Caller) -> Response:
    proxy: Proxy = request.app.state.proxy
    steps = [step for step in request.scope["path"].split("/") if step]
    if "." in steps or ".." in steps or not request.scope["raw_path"].startswith(b"/v1/"):
        raise RequestError(
            400,
            "invalid_request",
            "The path must not contain `.` or `..`, and must begin with /v1/ unescaped.",
        )
    # However it is spelled: what the provider may take for a guarded path is guarded.
    path = f"/{'/'.join(steps)}".lower()
    wire_format = BY_PATH.get(path)
    if wire_format is not None and request.method == "POST":
        return await proxy.guarded(request, caller, path, wire_format)
    if path.startswith("/v1/responses/") and len(steps) == 3 and request.method == "GET":
        return await proxy.stored(request, caller.tenant, steps[2])
    return await proxy.passed(request)


def render(problem: Problem) -> Response:
    """An error as the SDKs of both OpenAI and Anthropic understand it."""
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
    """Keep connections to the providers while the server runs."""
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
