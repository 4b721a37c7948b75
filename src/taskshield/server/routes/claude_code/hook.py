"""Claude Code hooks over HTTP: POST /hooks/claude-code.

Claude Code ignores a hook whose response has another status than 200. So every reply has the status
200, and a reply without a decision stops the event.
"""

import logging
from functools import partial

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from taskshield.adapters.claude_code import events
from taskshield.core.errors import StoreError
from taskshield.server.http.errors import Problem, problem_of
from taskshield.server.http.json_body import json_body
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
from taskshield.server.services import authorize, services
from taskshield.server.threads import off_loop


async def hook(request: Request) -> Response:
    """Answer one event."""
    caller = await authorize(request, "check", local=True)
    body = await json_body(request)
    event = await off_loop(len(await request.body()), partial(events.parse, body))
    server = services(request)
    try:
        return _response(await reply(server.checker, caller.tenant, event, agent=caller.agent))
    except Exception as error:  # only here the event is known that must be stopped
        problem = problem_of(error)
        if isinstance(error, StoreError):
            server.metrics.count_store_failure()
        if problem.status >= 500:
            log("failed", level=logging.ERROR, error=error, surface=NAME)
        return _response(unchecked(event, problem.message))


def _render(problem: Problem) -> Response:
    """The reply where the event could not be read: the agent is stopped."""
    return _response(unchecked(None, problem.message))


def _response(reply: Reply) -> Response:
    return AsciiResponse(reply.body, headers={CHECK_HEADER: reply.check})


SURFACE = Surface(
    name=NAME,
    prefixes=("/hooks",),
    router=APIRouter(routes=[Route(PATH, hook, methods=["POST"])]),
    render=_render,
)
