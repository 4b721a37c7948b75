"""People's labels on decisions: PUT and DELETE /api/decisions/{id}/label, GET /api/labels."""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Annotated

from fastapi import Response
from fastapi.responses import StreamingResponse
from pydantic import Field

from taskshield.adapters.conversations.native import render
from taskshield.core.decisions import Case
from taskshield.core.errors import StoreError
from taskshield.core.messages import Conversation
from taskshield.core.store import AuditRecord, Label, LabelValue, Page
from taskshield.core.tools import ToolSpec
from taskshield.engine.decide import decide
from taskshield.server.http.errors import RequestError
from taskshield.server.routes.api.models import DecisionOut, RequestModel, ResponseModel
from taskshield.server.routes.api.parameters import (
    After,
    ApproveCaller,
    CheckCaller,
    Id,
    Limit,
    Server,
    find_record,
    native_router,
)
from taskshield.server.services import Services
from taskshield.server.sessions.audit_records import stored_case

_BATCH = 50
"""Labels, and audit records, that an export reads at once."""


class NewLabel(RequestModel):
    """A person's opinion of a decision: right or wrong."""

    label: LabelValue
    note: Annotated[str, Field(max_length=2_000)] = ""


class LabelOut(ResponseModel):
    """A person's opinion of a decision: right or wrong."""

    decision: str
    label: LabelValue
    note: str
    by: str
    """Name of the API key that set it."""
    at: datetime

    @classmethod
    def of(cls, label: Label) -> "LabelOut":
        """From a label of the store."""
        return cls.model_validate(label, from_attributes=True)


class Labels(ResponseModel):
    """A page of labels, newest first."""

    items: list[LabelOut]
    next: str | None
    """Send this as `after` to get the next page; null at the end."""

    @classmethod
    def of(cls, page: Page[Label]) -> "Labels":
        """From a page of the store."""
        return cls(items=[LabelOut.of(item) for item in page.items], next=page.next)


router = native_router()


@router.put("/decisions/{decision}/label", tags=["labels"])
async def label_decision(
    decision: Id, body: NewLabel, caller: ApproveCaller, server: Server
) -> LabelOut:
    """Set the label of a decision; it replaces an earlier one."""
    record = await find_record(server, caller, decision)
    label = Label(
        tenant=caller.tenant,
        decision=record.id,
        label=body.label,
        note=body.note,
        by=caller.name,
        at=datetime.now(UTC),
    )
    await server.store.set_label(label)
    return LabelOut.of(label)


@router.delete("/decisions/{decision}/label", status_code=204, tags=["labels"])
async def unlabel_decision(decision: Id, caller: ApproveCaller, server: Server) -> Response:
    """Remove the label of a decision."""
    if not await server.store.remove_label(caller.tenant, decision):
        raise RequestError(404, "not_found", "The decision has no label.")
    return Response(status_code=204)


@router.get("/labels", tags=["labels"])
async def list_labels(
    caller: CheckCaller, server: Server, after: After = None, limit: Limit = 50
) -> Labels:
    """List labels, newest first."""
    return Labels.of(await server.store.labels(caller.tenant, after=after, limit=limit))


@router.get(
    "/labels/export",
    tags=["labels"],
    response_class=StreamingResponse,
    responses={200: {"content": {"application/jsonl": {"schema": {"type": "string"}}}}},
)
async def export_labels(caller: CheckCaller, server: Server) -> StreamingResponse:
    """All labelled cases as JSON Lines: the conversation, the decision and the label of each.

    Decisions whose case is not stored are left out.
    """
    return StreamingResponse(
        _lines(server, caller.tenant),
        media_type="application/jsonl",
        headers={"content-disposition": 'attachment; filename="labels.jsonl"'},
    )


async def _lines(server: Services, tenant: str) -> AsyncIterator[str]:
    cursor: str | None = None
    while True:
        page = await server.store.labels(tenant, after=cursor, limit=_BATCH)
        for label in page.items:
            line = await _line(server, label)
            if line is not None:
                yield line
        cursor = page.next
        if cursor is None:
            return


async def _line(server: Services, label: Label) -> str | None:
    record = await server.store.decision(label.tenant, label.decision)
    if record is None or record.case is None:
        return None
    records = await _until(server, record)
    tools = await _tools(server, record)
    return await asyncio.to_thread(_export_line, records, tools, label)


async def _until(server: Services, last: AuditRecord) -> list[AuditRecord]:
    """All records of a session up to this one that have a case."""
    records: list[AuditRecord] = []
    after = -1
    while after < last.number:
        more = await server.store.timeline(last.tenant, last.session, after=after, limit=_BATCH)
        records += [each for each in more if each.number <= last.number and each.case is not None]
        if not more:
            break
        after = more[-1].number
    return records


async def _tools(server: Services, record: AuditRecord) -> tuple[ToolSpec, ...]:
    """The tools of a record's session; none where the session was deleted."""
    try:
        snapshot = await server.checker.finder.newest(record.tenant, record.session)
    except (RequestError, StoreError):
        return ()
    return tuple(snapshot.state.tools.values())


def _export_line(records: list[AuditRecord], tools: tuple[ToolSpec, ...], label: Label) -> str:
    cases: list[Case] = [stored_case(record) for record in records]
    conversation = Conversation(messages=tuple(case.message for case in cases), tools=tools)
    line = {
        "conversation": render(conversation),
        "complete": [case.index for case in cases] == list(range(len(cases))),
        "decision": DecisionOut.of(decide(cases[-1])).model_dump(mode="json"),
        "label": LabelOut.of(label).model_dump(mode="json"),
    }
    return f"{json.dumps(line)}\n"
