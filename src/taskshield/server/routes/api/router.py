"""The native API: sessions, decisions, approvals, settings. Its OpenAPI document is complete."""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request

from taskshield._version import __version__
from taskshield.core.decisions import Action, Check
from taskshield.core.messages import Message
from taskshield.core.store import ApprovalStatus, AuditQuery
from taskshield.core.tools import Tier, ToolSpec
from taskshield.engine.decide import decide
from taskshield.server.http.surfaces import Surface
from taskshield.server.routes.api import benchmarks, labels, playground, stats, timeline
from taskshield.server.routes.api.models import (
    ApprovalList,
    ApprovalOut,
    CheckedOut,
    DecisionOut,
    NewMessages,
    NewSession,
    RecordOut,
    Records,
    Replay,
    SelfTestOut,
    SettingsOut,
    Verdict,
)
from taskshield.server.routes.api.parameters import (
    LONGEST_NAME,
    NAME,
    AdminCaller,
    After,
    AgentCaller,
    ApproveCaller,
    CheckCaller,
    Id,
    Limit,
    Moment,
    ReadCaller,
    Server,
    WaitingCaller,
    find_record,
    native_router,
)
from taskshield.server.routes.api.session_models import SessionOut, Sessions
from taskshield.server.sessions.audit_records import stored_case
from taskshield.server.sessions.snapshots import RequestSource
from taskshield.server.threads import off_loop

_LONGEST_WAIT_S = 60.0
_WITHOUT_NOTE = Verdict()
_USERINFO = re.compile(r"(?<=://)[^/@\s]*@")


router = native_router()


@router.post("/sessions", status_code=201, tags=["sessions"])
async def begin_session(body: NewSession, caller: AgentCaller, server: Server) -> SessionOut:
    """Begin a session."""
    tools = [tool.value() for tool in body.tools]
    return SessionOut.of(
        await server.checker.create_session(caller.tenant, id=body.id, tools=tools)
    )


@router.get("/sessions", tags=["sessions"])
async def list_sessions(
    caller: CheckCaller, server: Server, after: After = None, limit: Limit = 50
) -> Sessions:
    """List sessions, the most recently changed first."""
    return Sessions.of(await server.store.sessions(caller.tenant, after=after, limit=limit))


@router.get("/sessions/{session}", tags=["sessions"])
async def get_session(session: Id, caller: CheckCaller, server: Server) -> SessionOut:
    """The state of a session: tasks, tainted directives, counters."""
    return SessionOut.of(await server.checker.finder.newest(caller.tenant, session))


@router.post("/sessions/{session}/messages", tags=["sessions"])
async def check_messages(
    session: Id, body: NewMessages, caller: AgentCaller, server: Server, request: Request
) -> CheckedOut:
    """Check the next messages of a session: all of them or, where one fails, none."""
    messages, tools = await off_loop(len(await request.body()), lambda: _values(body))
    checked = await server.checker.check(
        caller.tenant, session, messages, source=RequestSource(NAME, caller.agent), tools=tools
    )
    return CheckedOut(
        session=checked.session,
        decisions=[
            DecisionOut.of(decision, checked.approvals.get(decision.id))
            for decision in checked.decisions
        ],
    )


@router.get("/decisions", tags=["decisions"])
async def search_decisions(
    caller: CheckCaller,
    server: Server,
    session: Annotated[str | None, Query(max_length=LONGEST_NAME)] = None,
    action: Action | None = None,
    check: Check | None = None,
    tier: Tier | None = None,
    judge: Annotated[str | None, Query(max_length=LONGEST_NAME)] = None,
    surface: Annotated[str | None, Query(max_length=LONGEST_NAME)] = None,
    agent: Annotated[str | None, Query(max_length=LONGEST_NAME)] = None,
    since: Annotated[Moment | None, Query(description="earliest time")] = None,
    until: Annotated[Moment | None, Query(description="the time must be before this")] = None,
    words: Annotated[
        str | None, Query(max_length=LONGEST_NAME, description="words in the summary")
    ] = None,
    after: After = None,
    limit: Limit = 50,
) -> Records:
    """Search the stored decisions, newest first."""
    query = AuditQuery(
        session=session,
        action=action,
        check=check,
        tier=tier,
        judge=judge,
        surface=surface,
        agent=agent,
        since=since,
        until=until,
        words=words,
    )
    return Records.of(await server.store.search(caller.tenant, query, after=after, limit=limit))


@router.get("/decisions/{decision}", tags=["decisions"])
async def get_decision(decision: Id, caller: ReadCaller, server: Server) -> RecordOut:
    """A stored decision."""
    return RecordOut.of(await find_record(server, caller, decision))


@router.post("/decisions/{decision}/replay", tags=["decisions"])
async def replay_decision(decision: Id, caller: CheckCaller, server: Server) -> Replay:
    """Make a decision again from its stored case."""
    record = await find_record(server, caller, decision)
    again = decide(stored_case(record))
    return Replay(same=again.action == record.action, decision=DecisionOut.of(again))


@router.get("/approvals", tags=["approvals"])
async def list_approvals(
    caller: ReadCaller,
    server: Server,
    status: ApprovalStatus | None = None,
    session: Annotated[str | None, Query(max_length=LONGEST_NAME)] = None,
    after: After = None,
    limit: Limit = 50,
) -> ApprovalList:
    """List approvals, newest first."""
    return ApprovalList.of(
        await server.store.approvals(
            caller.tenant, status=status, session=session, after=after, limit=limit
        )
    )


@router.get("/approvals/{approval}", tags=["approvals"])
async def get_approval(
    approval: Id,
    caller: WaitingCaller,
    server: Server,
    wait: Annotated[
        float, Query(ge=0, le=_LONGEST_WAIT_S, description="seconds to wait for a decision")
    ] = 0.0,
) -> ApprovalOut:
    """An approval. With `wait`, the response comes when it is decided."""
    wait = min(wait, server.settings.server.limits.request_s / 2)
    return ApprovalOut.of(await server.approvals.wait(caller.tenant, approval, wait))


@router.post("/approvals/{approval}/{verdict}", tags=["approvals"])
async def decide_approval(
    approval: Id,
    verdict: Literal["approve", "deny"],
    caller: ApproveCaller,
    server: Server,
    body: Verdict = _WITHOUT_NOTE,
) -> ApprovalOut:
    """Approve or deny blocked calls. An approval holds once, until the user's next message."""
    decided = server.approvals.approve if verdict == "approve" else server.approvals.deny
    return ApprovalOut.of(await decided(caller.tenant, approval, by=caller.name, note=body.note))


@router.get("/settings", tags=["server"])
async def get_settings(caller: AdminCaller, server: Server) -> SettingsOut:
    """The settings in force; secrets are masked."""
    return SettingsOut(
        version=__version__, settings=_masked(server.settings.model_dump(mode="json"))
    )


@router.post("/self-test", tags=["server"])
async def run_self_test(caller: AdminCaller, server: Server) -> SelfTestOut:
    """Run the self-test: the judge must block a known attack and allow a known good call."""
    result = await server.readiness.run_self_test()
    return SelfTestOut(passed=result.passed, failures=list(result.failures))


def _values(body: NewMessages) -> tuple[list[Message], list[ToolSpec]]:
    """Messages and tools as the checker takes them."""
    return [message.value() for message in body.messages], [tool.value() for tool in body.tools]


def _masked(value: Any) -> Any:
    """Settings without passwords in addresses; other secrets are masked already."""
    if isinstance(value, Mapping):
        return {key: _masked(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_masked(item) for item in value]
    return _USERINFO.sub("***@", value) if isinstance(value, str) else value


def _combined(*parts: APIRouter) -> APIRouter:
    router = APIRouter()
    for part in parts:
        router.include_router(part)
    return router


SURFACE = Surface(
    name=NAME,
    prefixes=("/api",),
    router=_combined(
        router,
        timeline.router,
        labels.router,
        stats.router,
        playground.router,
        benchmarks.router,
    ),
    logins=True,
)
