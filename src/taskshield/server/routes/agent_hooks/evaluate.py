"""Agent Hooks 0.1: POST /contentsafety/agent:evaluate."""

import json
from collections.abc import Sequence
from functools import partial
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from taskshield.adapters.agent_hooks import parse
from taskshield.adapters.agent_hooks.events import Event
from taskshield.adapters.agent_hooks.steps import (
    HookStep,
    Memory,
    forget_calls,
    plan_step,
    remember,
)
from taskshield.adapters.agent_hooks.verdicts import Verdict, render
from taskshield.adapters.azure import errors
from taskshield.core.decisions import Decision
from taskshield.core.errors import WireFormatError
from taskshield.server.http.json_body import json_body
from taskshield.server.http.surfaces import Surface
from taskshield.server.routes.agent_hooks.session_memory import SessionMemories, session_memories
from taskshield.server.routes.azure.responses import AzureResponse, renderer, wrong_api_version
from taskshield.server.services import Services, authorize, services
from taskshield.server.sessions.snapshots import RequestSource
from taskshield.server.threads import off_loop

NAME = "agent-hooks"


class VerdictResponse(AzureResponse):
    """A verdict in UTF-8: hosts limit the size of a response, and ASCII would be longer."""

    def render(self, content: Any) -> bytes:
        """Serialize the body. Events are valid Unicode, so no text of the host is replaced."""
        return json.dumps(content, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")


async def evaluate(request: Request) -> Response:
    """Answer one event of a host with a verdict."""
    caller = await authorize(request, "check", local=True)
    refusal = wrong_api_version(request, parse.API_VERSIONS)
    if refusal is not None:
        return refusal
    if not request.query_params.get("targetResourceId"):
        raise WireFormatError("targetResourceId: the query parameter is required")
    size = len(await request.body())
    if size > parse.MAX_BYTES:
        raise WireFormatError(f"body: larger than {parse.MAX_BYTES} bytes")
    event = await off_loop(size, partial(parse.parse, await json_body(request)))
    verdict = await _verdict(services(request), session_memories(request), caller.tenant, event)
    return VerdictResponse(verdict.wire())


async def _verdict(
    server: Services, memories: SessionMemories, tenant: str, event: Event
) -> Verdict:
    step = await _step(server, memories, tenant, event)
    decisions: Sequence[Decision] = ()
    approval = None
    if step.messages or step.tools:
        checked = await server.checker.check(
            tenant,
            event.session,
            step.messages,
            source=RequestSource(NAME, event.agent.name or event.agent.id),
            tools=step.tools,
            start=True,
        )
        decisions = checked.decisions
        waiting = checked.approvals.get(decisions[-1].id) if decisions else None
        approval = None if waiting is None else waiting.id

    def after(memory: Memory) -> Memory:
        if step.answer is not None and plan_step(event, memory).answer is None:
            return (
                memory  # the user has written meanwhile, so the remembered verdicts no longer apply
            )
        return remember(memory, event, decisions, approval)

    await memories.change(tenant, event.session, after)
    if step.answer is not None:
        return step.answer
    return render(event, decisions[-1] if decisions else None, approval)


async def _step(server: Services, memories: SessionMemories, tenant: str, event: Event) -> HookStep:
    """What to do about an event. Calls that a person has approved are judged again."""
    memory = await memories.get(tenant, event.session)
    step = plan_step(event, memory)
    if step.answer is None or not step.answer.liftable:
        return step
    approved = (await server.checker.finder.newest(tenant, event.session)).state.approved
    if not approved:
        return step

    def without_approved(memory: Memory) -> Memory:
        return forget_calls(memory, approved)

    return plan_step(event, await memories.change(tenant, event.session, without_approved))


SURFACE = Surface(
    name=NAME,
    prefixes=("/contentsafety/agent:evaluate",),
    router=APIRouter(routes=[Route("/contentsafety/agent:evaluate", evaluate, methods=["POST"])]),
    render=renderer(errors.invalid_request, denied="Unauthorized"),
)
