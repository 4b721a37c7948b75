"""Azure Task Adherence: POST /contentsafety/agent:analyzeTaskAdherence."""

from collections.abc import Sequence
from dataclasses import replace

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from taskshield.adapters import azure_errors, azure_task_adherence
from taskshield.core.decisions import Decision
from taskshield.core.errors import JudgeUnavailable
from taskshield.core.messages import Conversation
from taskshield.server.errors import Refused
from taskshield.server.guard import Guard
from taskshield.server.routes.azure_answers import AzureResponse, renderer, wrong_api_version
from taskshield.server.services import admitted, services
from taskshield.server.surfaces import Surface

NAME = "azure"


async def analyze(request: Request) -> Response:
    """Whether the agent's newest step serves the user's tasks."""
    caller = await admitted(request, "check")
    refusal = wrong_api_version(request, azure_task_adherence.API_VERSIONS)
    if refusal is not None:
        return refusal
    conversation = azure_task_adherence.parse(await request.body())
    asked = request.headers.get(azure_task_adherence.DETAILS_HEADER)
    detailed = azure_task_adherence.wants_details(asked)
    try:
        answer = await _answer(services(request).guard, caller.tenant, conversation, detailed)
    except JudgeUnavailable:
        raise Refused(503, "judge_unavailable", "the newest step could not be checked") from None
    return AzureResponse(answer)


async def _answer(
    guard: Guard, tenant: str, conversation: Conversation, detailed: bool
) -> dict[str, object]:
    checked = await guard.conversation(tenant, conversation, surface=NAME)
    try:
        return azure_task_adherence.render(checked.decisions, detailed=detailed)
    except JudgeUnavailable:
        if checked.new:
            raise
    # The client tries again, as it was told to: the outage of its first try is not its answer.
    decisions = await _judged_again(guard, tenant, conversation, checked.decisions)
    return azure_task_adherence.render(decisions, detailed=detailed)


async def _judged_again(
    guard: Guard, tenant: str, conversation: Conversation, decisions: Sequence[Decision]
) -> Sequence[Decision]:
    """The decisions with the newest step judged once more."""
    failed = [
        decision
        for decision in azure_task_adherence.newest_step(decisions)
        if decision.check == "failed"
    ]
    messages = conversation.messages
    first = decisions.index(failed[0])
    earlier = replace(conversation, messages=messages[:first])
    known = await guard.conversation(tenant, earlier, surface=NAME)
    again = await guard.go_on(known.point, messages[first:], surface=NAME)
    judged = (*known.decisions, *again.decisions)
    await guard.remember(again.point, conversation, judged)
    return judged


SURFACE = Surface(
    name=NAME,
    prefixes=("/contentsafety",),
    router=APIRouter(
        routes=[Route("/contentsafety/agent:analyzeTaskAdherence", analyze, methods=["POST"])]
    ),
    render=renderer(azure_errors.invalid_request_body, denied="401"),
)
