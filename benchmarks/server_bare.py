"""A pass-through that checks nothing, with the libraries that the server is made with.

What it costs is what any proxy costs that is written with them. `UPSTREAM` is where it passes
requests on to.
"""

import os
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

import httpx
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

_OF_THE_CONNECTION = ("connection", "content-length", "host", "transfer-encoding")


async def passed(request: Request) -> Response:
    """Pass a request on, and its answer back as it comes."""
    client: httpx.AsyncClient = request.app.state.client
    asked = client.build_request(
        request.method,
        request.url.path,
        headers=_kept(request.headers.items()),
        content=await request.body(),
    )
    answer = await client.send(asked, stream=True)
    return StreamingResponse(
        answer.aiter_raw(),
        status_code=answer.status_code,
        headers=dict(_kept(answer.headers.items())),
        background=BackgroundTask(answer.aclose),
    )


def _kept(headers: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(name, value) for name, value in headers if name not in _OF_THE_CONNECTION]


@asynccontextmanager
async def connected(app: Starlette) -> AsyncIterator[None]:
    """Keep connections while the app runs."""
    async with httpx.AsyncClient(base_url=os.environ["UPSTREAM"], timeout=60) as client:
        app.state.client = client
        yield


app = Starlette(routes=[Route("/{path:path}", passed, methods=["GET", "POST"])], lifespan=connected)
