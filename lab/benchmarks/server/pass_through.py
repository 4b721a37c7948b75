"""A proxy that checks nothing, made with the same libraries as the server.

Its cost is the cost of any proxy with these libraries. The variable `UPSTREAM` is the address of
the provider.
"""

import os
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

import aiohttp
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

_HOP_BY_HOP = ("connection", "content-length", "host", "transfer-encoding")


async def forward(request: Request) -> Response:
    """Forward a request, and stream its answer back."""
    session: aiohttp.ClientSession = request.app.state.session
    answer = await session.request(
        request.method,
        request.url.path,
        headers=_end_to_end(request.headers.items()),
        data=await request.body(),
    )
    return StreamingResponse(
        answer.content.iter_any(),
        status_code=answer.status,
        headers=dict(_end_to_end(answer.headers.items())),
    )


def _end_to_end(headers: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(name, value) for name, value in headers if name.lower() not in _HOP_BY_HOP]


@asynccontextmanager
async def connected(app: Starlette) -> AsyncIterator[None]:
    """Keep connections while the app runs."""
    async with aiohttp.ClientSession(
        os.environ["UPSTREAM"],
        connector=aiohttp.TCPConnector(limit=0),
        auto_decompress=False,
        timeout=aiohttp.ClientTimeout(total=60),
    ) as session:
        app.state.session = session
        yield


app = Starlette(
    routes=[Route("/{path:path}", forward, methods=["GET", "POST"])], lifespan=connected
)
