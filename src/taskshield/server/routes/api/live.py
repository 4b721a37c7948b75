"""Live events as server-sent events: GET /api/live."""

import json
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from datetime import datetime
from typing import Annotated

from fastapi import Header, Request
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict

from taskshield.core.decisions import Action, Check
from taskshield.core.store import Approval, AuditRecord
from taskshield.core.tools import Tier
from taskshield.server.http.errors import RequestError
from taskshield.server.http.surfaces import Surface
from taskshield.server.operations.live_events import Event, LiveEvents
from taskshield.server.routes.api.models import ApprovalOut
from taskshield.server.routes.api.parameters import CheckCaller, Server, native_router
from taskshield.server.services import Services
from taskshield.server.sessions.judgement import CheckResult

_PAUSE_S = 15.0
"""Seconds after which a comment is sent if there is no event, and the key is checked again."""


class DecisionEvent(BaseModel):
    """A new decision."""

    model_config = ConfigDict(frozen=True)

    session: str
    surface: str
    agent: str | None
    number: int
    """Number of the message in its session."""
    level: str
    action: Action
    check: Check
    tier: Tier | None
    summary: str
    """One line for people; empty where texts are not stored."""
    decision: str
    """Id of the decision."""
    at: datetime
    elapsed_ms: float

    @classmethod
    def of(cls, record: AuditRecord) -> "DecisionEvent":
        """From the audit record of a decision."""
        return cls(
            session=record.session,
            surface=record.surface,
            agent=record.agent,
            number=record.number,
            level=record.level,
            action=record.action,
            check=record.check,
            tier=record.tier,
            summary=record.summary,
            decision=record.id,
            at=record.at,
            elapsed_ms=record.elapsed_ms,
        )


def publish_decisions(live: LiveEvents, checked: CheckResult) -> None:
    """Publish the decisions of a check, and the approvals that it asks for."""
    for record in checked.records:
        live.publish(record.tenant, "decision", _json(DecisionEvent.of(record)))
    for approval in checked.approvals.values():
        publish_approval(live, approval)


def publish_approval(live: LiveEvents, approval: Approval) -> None:
    """Publish an approval that was requested or decided."""
    live.publish(approval.tenant, "approval", _json(ApprovalOut.of(approval)))


router = native_router()


@router.get(
    "/live",
    tags=["live"],
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
)
async def follow_live(
    request: Request,
    caller: CheckCaller,
    server: Server,
    last_event_id: Annotated[
        str | None, Header(max_length=100, description="continue after this event")
    ] = None,
) -> StreamingResponse:
    """Follow decisions and approvals: a stream of server-sent events that does not end."""
    events = server.live.follow(caller.tenant, last_event_id, _PAUSE_S)
    first = await anext(events)  # raises where too many streams are open
    return StreamingResponse(
        _stream(first, events, request, server),
        media_type="text/event-stream",
        headers={"x-accel-buffering": "no", "x-content-type-options": "nosniff"},
    )


async def _stream(
    first: Event | None,
    events: AsyncGenerator[Event | None],
    request: Request,
    server: Services,
) -> AsyncIterator[bytes]:
    yield _encoded(first)
    authorized = time.monotonic()
    async with aclosing(events):
        async for event in events:
            if time.monotonic() - authorized >= _PAUSE_S:
                try:
                    await server.auth.identify(request)
                except RequestError:
                    return  # logged out, expired or revoked
                authorized = time.monotonic()
            yield _encoded(event)


def _encoded(event: Event | None) -> bytes:
    if event is None:
        return b": nothing yet\n\n"
    return f"event: {event.name}\nid: {event.id}\ndata: {event.data}\n\n".encode()


def _json(value: BaseModel) -> str:
    return json.dumps(value.model_dump(mode="json"))


SURFACE = Surface(name="live", prefixes=("/api/live",), router=router, logins=True)
