"""A pass-through that checks nothing, with the libraries that the server is made with.

What it costs is what any proxy costs that is written with them. `UPSTREAM` is where it passes
requests on to.
"""

import os
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

import aiohttp
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

_OF_THE_CONNECTION = ("connection", "content-length", "host", "transfer-encoding")


async def passed(request: Request) -> Response:
    """Pass a request on, and its answer back as it comes."""
    session: aiohttp.ClientSession = request.app.state.session
    answer = await session.request(
        request.method,
        request.url.path,
        headers=_kept(request.headers.items()),
        data=await request.body(),
    )
    return StreamingResponse(
        answer.content.iter_any(),
        status_code=answer.status,
        headers=dict(_kept(answer.headers.items())),
    )


def _kept(headers: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(name, value) for name, value in headers if name.lower() not in _OF_THE_CONNECTION]


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


app = Starlette(routes=[Route("/{path:path}", passed, methods=["GET", "POST"])], lifespan=connected)
