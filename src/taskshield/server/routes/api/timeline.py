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
from taskshield.server.routes.api.models import DecisionOut, ResponseModel
from taskshield.server.routes.api.parameters import CheckCaller, Id, Server, native_router
from taskshield.server.routes.api.session_models import TaskOut
from taskshield.server.services import Services
from taskshield.server.sessions.audit_records import needs_person, stored_case
from taskshield.wiring import build_value_tracer

_BEFORE = 300
"""Messages before a page in which values are searched; with more, a late page would take long."""
_BEFORE_LENGTH = 2_000_000
"""Characters of their cases."""
_APPROVALS = 200
"""Approvals of a session that are read, the newest first."""


class TimelineItem(ResponseModel):
    """A message and the decision on it."""

    number: int
    level: str
    text: str
    at: datetime
    surface: str
    agent: str | None
    decision: DecisionOut
    evidence: list[EvidenceOut]
    """Provenance of the values of its calls."""
    label: LabelOut | None
    """A person's label on the decision."""


class Timeline(ResponseModel):
    """Some messages of a session, in order."""

    items: list[TimelineItem]
    tasks: list[TaskOut]
    """The user's tasks after the last of these messages."""
    next: int | None
    """Send this as `after` to get the next page; null at the end."""


router = native_router()


@router.get("/sessions/{session}/timeline", tags=["sessions"])
async def get_timeline(
    session: Id,
    caller: CheckCaller,
    server: Server,
    after: Annotated[int, Query(ge=-1, le=2**31, description="`next` of the previous page")] = -1,
    limit: Annotated[int, Query(ge=1, le=100)] = 50,
) -> Timeline:
    """A session message by message: text, decision and provenance of values."""
    tenant = caller.tenant
    records = await server.store.timeline(tenant, session, after=after, limit=limit + 1)
    if not records and await server.store.session(tenant, session) is None:
        raise RequestError(404, "not_found", "There is no such session.")
    shown = records[:limit]
    before = await _before(server, tenant, session, after) if shown else ()
    replays = await asyncio.to_thread(_replay, before, shown)
    approvals = await _approvals(server, tenant, session, [each.decision for each in replays])
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
            for record, each in zip(shown, replays, strict=True)
        ],
        tasks=_tasks([each.decision.case for each in replays]),
        next=shown[-1].number if len(records) > limit else None,
    )


@dataclass(frozen=True, slots=True)
class _Replay:
    """A decision and its evidence, from an audit record."""

    decision: Decision
    evidence: list[EvidenceOut]


def _replay(before: Iterable[AuditRecord], shown: Iterable[AuditRecord]) -> list[_Replay]:
    """Replay the shown records; values are also searched in the records before them."""
    tracer = build_value_tracer()
    for record in before:
        tracer.add(stored_case(record))
    cases = [stored_case(record) for record in shown]
    return [_Replay(decide(case), evidence_out(tracer.trace(case))) for case in cases]


async def _before(
    server: Services, tenant: str, session: str, after: int
) -> tuple[AuditRecord, ...]:
    """The messages right before a page, as many as can be searched."""
    if after < 0:
        return ()
    first = max(-1, after - _BEFORE)
    found = await server.store.timeline(tenant, session, after=first, limit=_BEFORE)
    chosen: list[AuditRecord] = []
    length = 0
    for record in reversed([each for each in found if each.number <= after]):
        length += len(record.case or "")
        if length > _BEFORE_LENGTH:
            break
        chosen.append(record)
    return tuple(reversed(chosen))


async def _approvals(
    server: Services, tenant: str, session: str, decisions: Iterable[Decision]
) -> dict[str, Approval]:
    """The approvals of a session, by the id of the decision."""
    if not any(map(needs_person, decisions)):
        return {}
    found = await server.store.approvals(tenant, session=session, limit=_APPROVALS)
    return {approval.decision: approval for approval in found.items}


def _tasks(cases: Sequence[Case]) -> list[TaskOut]:
    """The user's tasks after the last message. A message that was not judged has none."""
    known = next((case.tasks.tasks for case in reversed(cases) if len(case.tasks)), ())
    return [TaskOut.of(task) for task in known]
