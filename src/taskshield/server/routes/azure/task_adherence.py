"""Azure Task Adherence: POST /contentsafety/agent:analyzeTaskAdherence."""

from functools import partial

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from taskshield.adapters.azure import errors, task_adherence
from taskshield.core.errors import JudgeUnavailable
from taskshield.server.http.errors import RequestError
from taskshield.server.http.json_body import json_body
from taskshield.server.http.surfaces import Surface
from taskshield.server.routes.azure.responses import AzureResponse, renderer, wrong_api_version
from taskshield.server.services import authorize, services
from taskshield.server.sessions.snapshots import RequestSource
from taskshield.server.threads import off_loop

NAME = "azure"


async def analyze(request: Request) -> Response:
    """Whether the agent's newest step serves the user's tasks."""
    caller = await authorize(request, "check", local=True)
    refusal = wrong_api_version(request, task_adherence.API_VERSIONS)
    if refusal is not None:
        return refusal
    body = await json_body(request)
    size = len(await request.body())
    conversation = await off_loop(size, partial(task_adherence.parse, body))
    details = request.headers.get(task_adherence.DETAILS_HEADER)
    detailed = task_adherence.wants_details(details)
    checked = await services(request).checker.check_conversation(
        caller.tenant, conversation, source=RequestSource(NAME, caller.agent)
    )
    try:
        answer = task_adherence.render(checked.decisions, detailed=detailed)
    except JudgeUnavailable:
        raise RequestError(
            503, "judge_unavailable", "The newest step could not be checked. Try again."
        ) from None
    return AzureResponse(answer)


SURFACE = Surface(
    name=NAME,
    prefixes=("/contentsafety",),
    router=APIRouter(
        routes=[Route("/contentsafety/agent:analyzeTaskAdherence", analyze, methods=["POST"])]
    ),
    render=renderer(errors.invalid_request_body, denied="401"),
)
