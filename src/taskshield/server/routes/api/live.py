"""What happens now, as server-sent events: GET /api/live."""

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
from taskshield.server.operations.live_events import Event, Live
from taskshield.server.routes.api.models import ApprovalOut
from taskshield.server.routes.api.parameters import Checker, Server, native_router
from taskshield.server.services import Services
from taskshield.server.sessions.checker import CheckResult

_PAUSE_S = 15.0
"""How often something is sent, and the key is looked at again, whether or not anything happens."""


class DecisionEvent(BaseModel):
    """A decision that was just made."""

    model_config = ConfigDict(frozen=True)

    session: str
    surface: str
    agent: str | None
    number: int
    """Of the message in its session."""
    level: str
    action: Action
    check: Check
    tier: Tier | None
    summary: str
    """One line for people; empty where texts are not stored."""
    decision: str
    """Its id."""
    at: datetime
    elapsed_ms: float

    @classmethod
    def of(cls, record: AuditRecord) -> "DecisionEvent":
        """From the record of a decision."""
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


def tell_decisions(live: Live, checked: CheckResult) -> None:
    """Let people see what was decided, and what now waits for them."""
    for record in checked.records:
        live.tell(record.tenant, "decision", _json(DecisionEvent.of(record)))
    for approval in checked.approvals.values():
        tell_approval(live, approval)


def tell_approval(live: Live, approval: Approval) -> None:
    """Let people see that something waits for them, or no longer does."""
    live.tell(approval.tenant, "approval", _json(ApprovalOut.of(approval)))


router = native_router()


@router.get(
    "/live",
    tags=["live"],
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
)
async def follow_live(
    request: Request,
    caller: Checker,
    server: Server,
    last_event_id: Annotated[
        str | None, Header(max_length=100, description="go on after this event")
    ] = None,
) -> StreamingResponse:
    """Decisions and approvals as they happen: server-sent events that do not end."""
    followed = server.live.follow(caller.tenant, last_event_id, _PAUSE_S)
    first = await anext(followed)  # where there are too many followers, this is refused
    return StreamingResponse(
        _stream(first, followed, request, server),
        media_type="text/event-stream",
        headers={"x-accel-buffering": "no", "x-content-type-options": "nosniff"},
    )


async def _stream(
    first: Event | None,
    followed: AsyncGenerator[Event | None],
    request: Request,
    server: Services,
) -> AsyncIterator[bytes]:
    yield _written(first)
    admitted = time.monotonic()
    async with aclosing(followed):
        async for event in followed:
            if time.monotonic() - admitted >= _PAUSE_S:
                try:
                    await server.auth.recognise(request)
                except RequestError:
                    return  # logged out, expired or revoked
                admitted = time.monotonic()
            yield _written(event)


def _written(event: Event | None) -> bytes:
    if event is None:
        return b": nothing yet\n\n"
    return f"event: {event.name}\nid: {event.id}\ndata: {event.data}\n\n".encode()


def _json(value: BaseModel) -> str:
    return json.dumps(value.model_dump(mode="json"))


SURFACE = Surface(name="live", prefixes=("/api/live",), router=router, logins=True)
