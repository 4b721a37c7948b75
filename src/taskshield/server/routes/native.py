"""The native API: sessions, decisions, approvals, settings. Its OpenAPI document is complete."""

import re
from collections.abc import Callable, Coroutine, Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Path, Query, Request, Response, Security
from fastapi.routing import APIRoute
from fastapi.security import APIKeyHeader, HTTPBearer
from pydantic import AfterValidator, AwareDatetime, Field

from taskshield._version import __version__
from taskshield.adapters import values_json
from taskshield.core.decisions import Action, Case, Check
from taskshield.core.store import ApprovalStatus, AuditQuery, AuditRecord
from taskshield.core.tools import Tier
from taskshield.engine.decide import decide
from taskshield.server.ascii_json import AsciiResponse
from taskshield.server.auth import KEY_HEADERS, Caller
from taskshield.server.errors import Refused
from taskshield.server.routes.native_models import (
    ApprovalList,
    ApprovalOut,
    CheckedOut,
    DecisionOut,
    ErrorBody,
    NewMessages,
    NewSession,
    RecordOut,
    Records,
    Replay,
    SelfTestOut,
    SessionOut,
    Sessions,
    SettingsOut,
    Verdict,
)
from taskshield.server.services import Services, admitted, services
from taskshield.server.surfaces import Surface

NAME = "native"

_LONGEST_WAIT_S = 60.0
_LONGEST_NAME = 512
"""Of a session, on any surface; as long as stores take one."""
_FIRST, _LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
_WITHOUT_NOTE = Verdict()
_USERINFO = re.compile(r"(?<=://)[^/@\s]*@")


class _Guarded(APIRoute):
    """A route that knows who asks before the framework reads and parses what is asked."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def guarded(request: Request) -> Response:
            await services(request).auth.recognise(request)
            return await handle(request)

        return guarded


async def _server(request: Request) -> Services:
    return services(request)  # the framework would run a plain function in a thread


async def _checker(request: Request) -> Caller:
    return await admitted(request, "check")


async def _reader(request: Request) -> Caller:
    return await admitted(request, "check", "approve")


async def _approver(request: Request) -> Caller:
    return await admitted(request, "approve")


async def _admin(request: Request) -> Caller:
    return await admitted(request, "admin")


def _in_utc(moment: datetime) -> datetime:
    try:
        return moment.astimezone(UTC)
    except OverflowError:  # a time zone leads beyond the first or the last day of the calendar
        return _FIRST if moment.year == _FIRST.year else _LAST


Checker = Annotated[Caller, Depends(_checker)]
Reader = Annotated[Caller, Depends(_reader)]
Approver = Annotated[Caller, Depends(_approver)]
Admin = Annotated[Caller, Depends(_admin)]
Server = Annotated[Services, Depends(_server)]
Moment = Annotated[AwareDatetime, AfterValidator(_in_utc)]
Id = Annotated[str, Path(max_length=_LONGEST_NAME)]
Cursor = Annotated[
    str, Field(pattern="^[A-Za-z0-9_=-]{1,4400}$", json_schema_extra={"format": "cursor"})
]
After = Annotated[Cursor | None, Query(description="`next` of the page before")]
Limit = Annotated[int, Query(ge=1, le=200)]

router = APIRouter(
    prefix="/api",
    route_class=_Guarded,
    dependencies=[  # for the document alone: `admitted` looks into all headers
        Security(APIKeyHeader(name=KEY_HEADERS[0], scheme_name="key", auto_error=False)),
        Security(HTTPBearer(scheme_name="bearer", auto_error=False)),
    ],
    default_response_class=AsciiResponse,
    responses={"default": {"model": ErrorBody, "description": "Why it was not carried out"}},
)


@router.post("/sessions", status_code=201, tags=["sessions"])
async def begin_session(body: NewSession, caller: Checker, server: Server) -> SessionOut:
    """Begin a session."""
    tools = [tool.value() for tool in body.tools]
    return SessionOut.of(await server.guard.begin(caller.tenant, id=body.id, tools=tools))


@router.get("/sessions", tags=["sessions"])
async def list_sessions(
    caller: Checker, server: Server, after: After = None, limit: Limit = 50
) -> Sessions:
    """List sessions, those written last first."""
    return Sessions.of(await server.store.sessions(caller.tenant, after=after, limit=limit))


@router.get("/sessions/{session}", tags=["sessions"])
async def get_session(session: Id, caller: Checker, server: Server) -> SessionOut:
    """What a session knows: tasks, tainted directives, counters."""
    return SessionOut.of(await server.guard.session(caller.tenant, session))


@router.post("/sessions/{session}/messages", tags=["sessions"])
async def check_messages(
    session: Id, body: NewMessages, caller: Checker, server: Server
) -> CheckedOut:
    """Judge the next messages of a session: all of them or, where anything fails, none."""
    checked = await server.guard.check(
        caller.tenant,
        session,
        [message.value() for message in body.messages],
        surface=NAME,
        tools=[tool.value() for tool in body.tools],
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
    caller: Checker,
    server: Server,
    session: Annotated[str | None, Query(max_length=_LONGEST_NAME)] = None,
    action: Action | None = None,
    check: Check | None = None,
    tier: Tier | None = None,
    judge: Annotated[str | None, Query(max_length=_LONGEST_NAME)] = None,
    surface: Annotated[str | None, Query(max_length=_LONGEST_NAME)] = None,
    since: Annotated[Moment | None, Query(description="not before")] = None,
    until: Annotated[Moment | None, Query(description="before")] = None,
    words: Annotated[
        str | None, Query(max_length=_LONGEST_NAME, description="in the summary")
    ] = None,
    after: After = None,
    limit: Limit = 50,
) -> Records:
    """Search the decisions that were written down, newest first."""
    query = AuditQuery(
        session=session,
        action=action,
        check=check,
        tier=tier,
        judge=judge,
        surface=surface,
        since=since,
        until=until,
        words=words,
    )
    return Records.of(await server.store.search(caller.tenant, query, after=after, limit=limit))


@router.get("/decisions/{decision}", tags=["decisions"])
async def get_decision(decision: Id, caller: Reader, server: Server) -> RecordOut:
    """A decision as it was written down."""
    return RecordOut.of(await _record(server, caller, decision))


@router.post("/decisions/{decision}/replay", tags=["decisions"])
async def replay_decision(decision: Id, caller: Checker, server: Server) -> Replay:
    """Make a decision again from its stored case."""
    record = await _record(server, caller, decision)
    if record.case is None:
        raise Refused(410, "gone", "the case was not stored: texts are not stored here")
    again = decide(values_json.load(Case, record.case))
    return Replay(same=again.action == record.action, decision=DecisionOut.of(again))


@router.get("/approvals", tags=["approvals"])
async def list_approvals(
    caller: Reader,
    server: Server,
    status: ApprovalStatus | None = None,
    after: After = None,
    limit: Limit = 50,
) -> ApprovalList:
    """List approvals, newest first."""
    page = await server.store.approvals(caller.tenant, status=status, after=after, limit=limit)
    return ApprovalList.of(page)


@router.get("/approvals/{approval}", tags=["approvals"])
async def get_approval(
    approval: Id,
    caller: Reader,
    server: Server,
    wait: Annotated[
        float, Query(ge=0, le=_LONGEST_WAIT_S, description="seconds to wait for a decision")
    ] = 0.0,
) -> ApprovalOut:
    """An approval; with `wait`, as soon as it is decided."""
    wait = min(wait, server.settings.server.limits.request_s / 2)
    return ApprovalOut.of(await server.approvals.wait(caller.tenant, approval, wait))


@router.post("/approvals/{approval}/{verdict}", tags=["approvals"])
async def decide_approval(
    approval: Id,
    verdict: Literal["approve", "deny"],
    caller: Approver,
    server: Server,
    body: Verdict = _WITHOUT_NOTE,
) -> ApprovalOut:
    """Let through what was held back, once and until the user speaks again; or do not."""
    decided = server.approvals.approve if verdict == "approve" else server.approvals.deny
    return ApprovalOut.of(await decided(caller.tenant, approval, by=caller.name, note=body.note))


@router.get("/settings", tags=["server"])
async def get_settings(caller: Admin, server: Server) -> SettingsOut:
    """The settings in force; secrets are masked."""
    return SettingsOut(
        version=__version__, settings=_masked(server.settings.model_dump(mode="json"))
    )


@router.post("/self-test", tags=["server"])
async def run_self_test(caller: Admin, server: Server) -> SelfTestOut:
    """Let the judge show again that it catches a known attack and passes a good call."""
    outcome = await server.readiness.test()
    return SelfTestOut(passed=outcome.passed, failures=list(outcome.failures))


async def _record(server: Services, caller: Caller, id: str) -> AuditRecord:
    record = await server.store.decision(caller.tenant, id)
    if record is None:
        raise Refused(404, "not_found", "there is no such decision")
    return record


def _masked(value: Any) -> Any:
    """Settings without the passwords that addresses may hold; other secrets are masked already."""
    if isinstance(value, Mapping):
        return {key: _masked(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_masked(item) for item in value]
    return _USERINFO.sub("***@", value) if isinstance(value, str) else value


SURFACE = Surface(name=NAME, prefixes=("/api",), router=router)
