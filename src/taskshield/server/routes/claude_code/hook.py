"""Claude Code hooks over HTTP: POST /hooks/claude-code.

Claude Code takes any status but 200 for a hook that failed, and goes on without it. So every reply
has the status 200, and one without a decision stops what it was asked about.
"""

import logging

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from taskshield.adapters.claude_code import events
from taskshield.core.errors import StoreError
from taskshield.server.http.errors import Problem, problem_of
from taskshield.server.http.json_response import AsciiResponse
from taskshield.server.http.surfaces import Surface
from taskshield.server.operations.logs import log
from taskshield.server.routes.claude_code.replies import (
    CHECK_HEADER,
    NAME,
    PATH,
    Reply,
    reply,
    unchecked,
)
from taskshield.server.services import admitted, services


async def hook(request: Request) -> Response:
    """What is to become of an event."""
    caller = await admitted(request, "check")
    event = events.parse(await request.body())
    server = services(request)
    try:
        return _response(await reply(server.checker, caller.tenant, event, agent=caller.agent))
    except Exception as error:  # only here is it known what must not go on
        problem = problem_of(error)
        if isinstance(error, StoreError):
            server.metrics.store_failed()
        if problem.status >= 500:
            log("failed", level=logging.ERROR, error=error, surface=NAME)
        return _response(unchecked(event, problem.message))


def _render(problem: Problem) -> Response:
    """Before the event was read, all that can be stopped is everything."""
    return _response(unchecked(None, problem.message))


def _response(reply: Reply) -> Response:
    return AsciiResponse(reply.body, headers={CHECK_HEADER: reply.check})


SURFACE = Surface(
    name=NAME,
    prefixes=("/hooks",),
    router=APIRouter(routes=[Route(PATH, hook, methods=["POST"])]),
    render=_render,
)
