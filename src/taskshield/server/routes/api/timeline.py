"""A session message by message: GET /api/sessions/{id}/timeline."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import Query

from taskshield.core.decisions import Case, Decision
from taskshield.core.store import Approval, AuditRecord
from taskshield.engine.decide import decide
from taskshield.server.http.errors import RequestError
from taskshield.server.routes.api.evidence_models import EvidenceOut, evidence_out
from taskshield.server.routes.api.labels import LabelOut
from taskshield.server.routes.api.models import Answer, DecisionOut
from taskshield.server.routes.api.parameters import Checker, Id, Server, native_router
from taskshield.server.routes.api.session_models import TaskOut
from taskshield.server.services import Services
from taskshield.server.sessions.audit_records import needs_person, stored_case
from taskshield.wiring import build_value_tracer

_BEFORE = 300
"""Messages before a page in which values are looked for; with more, a late page would take long."""
_BEFORE_LENGTH = 2_000_000
"""Characters of their cases."""
_APPROVALS = 200
"""Approvals of a session that are looked through, the newest first."""


class TimelineItem(Answer):
    """A message, and what was decided about it."""

    number: int
    level: str
    text: str
    at: datetime
    surface: str
    agent: str | None
    decision: DecisionOut
    evidence: list[EvidenceOut]
    """Where the values of its calls come from."""
    label: LabelOut | None
    """What a person said of the decision."""


class Timeline(Answer):
    """Some messages of a session, in order."""

    items: list[TimelineItem]
    tasks: list[TaskOut]
    """The user's tasks, as of the last of these messages."""
    next: int | None
    """Give this back as `after` to get those that follow; null at the end."""


router = native_router()


@router.get("/sessions/{session}/timeline", tags=["sessions"])
async def get_timeline(
    session: Id,
    caller: Checker,
    server: Server,
    after: Annotated[int, Query(ge=-1, le=2**31, description="`next` of the page before")] = -1,
    limit: Annotated[int, Query(ge=1, le=100)] = 50,
) -> Timeline:
    """A session message by message: what was said, decided, and where values came from."""
    tenant = caller.tenant
    records = await server.store.timeline(tenant, session, after=after, limit=limit + 1)
    if not records and await server.store.session(tenant, session) is None:
        raise RequestError(404, "not_found", "there is no such session")
    shown = records[:limit]
    before = await _before(server, tenant, session, after) if shown else ()
    told = await asyncio.to_thread(_told, before, shown)
    approvals = await _approvals(server, tenant, session, [each.decision for each in told])
    labels = await server.store.labels_of(tenant, [record.id for record in shown])
    return Timeline(
        items=[
            TimelineItem(
                number=record.number,
                level=record.level,
                text=each.decision.case.message.text,
                at=record.at,
                surface=record.surface,
                agent=record.agent,
                decision=DecisionOut.of(each.decision, approvals.get(record.id)),
                evidence=each.evidence,
                label=LabelOut.of(labels[record.id]) if record.id in labels else None,
            )
            for record, each in zip(shown, told, strict=True)
        ],
        tasks=_tasks([each.decision.case for each in told]),
        next=shown[-1].number if len(records) > limit else None,
    )


@dataclass(frozen=True, slots=True)
class _Told:
    """What a record says."""

    decision: Decision
    evidence: list[EvidenceOut]


def _told(before: Iterable[AuditRecord], shown: Iterable[AuditRecord]) -> list[_Told]:
    """What records say, given those before them."""
    tracer = build_value_tracer()
    for record in before:
        tracer.add(stored_case(record))
    cases = [stored_case(record) for record in shown]
    return [_Told(decide(case), evidence_out(tracer.trace(case))) for case in cases]


async def _before(
    server: Services, tenant: str, session: str, after: int
) -> tuple[AuditRecord, ...]:
    """The messages right before a page, as many as can be looked through."""
    if after < 0:
        return ()
    first = max(-1, after - _BEFORE)
    found = await server.store.timeline(tenant, session, after=first, limit=_BEFORE)
    taken: list[AuditRecord] = []
    length = 0
    for record in reversed([each for each in found if each.number <= after]):
        length += len(record.case or "")
        if length > _BEFORE_LENGTH:
            break
        taken.append(record)
    return tuple(reversed(taken))


async def _approvals(
    server: Services, tenant: str, session: str, decisions: Iterable[Decision]
) -> dict[str, Approval]:
    """What a person was asked, by the id of the decision."""
    if not any(map(needs_person, decisions)):
        return {}
    found = await server.store.approvals(tenant, session=session, limit=_APPROVALS)
    return {approval.decision: approval for approval in found.items}


def _tasks(cases: Sequence[Case]) -> list[TaskOut]:
    """The user's tasks as of the last message that knows them; they only become more."""
    known = max((case.tasks.tasks for case in cases), key=len, default=())
    return [TaskOut.of(task) for task in known]
