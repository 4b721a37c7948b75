"""What all routes of the native API share: authorization and the types of parameters."""

from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request, Response, Security
from fastapi.routing import APIRoute
from fastapi.security import APIKeyHeader, HTTPBearer
from pydantic import AfterValidator, AwareDatetime, Field

from taskshield.core.store import AuditRecord
from taskshield.server.access.api_keys import KEY_HEADERS
from taskshield.server.access.auth import Caller
from taskshield.server.http.errors import RequestError
from taskshield.server.http.json_body import BoundedRequest
from taskshield.server.http.json_response import AsciiResponse
from taskshield.server.routes.api.models import ErrorBody
from taskshield.server.services import Services, authorize, services

NAME = "native"

LONGEST_NAME = 512
"""Longest id of a session on any surface; the stores allow no longer one."""
_FIRST, _LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


class _AuthorizedRoute(APIRoute):
    """A route that checks the API key and its limit before the framework parses the request."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handle_authorized(request: Request) -> Response:
            await services(request).auth.admit(request)
            response = await handle(BoundedRequest(request.scope, request.receive))
            response.headers.setdefault("cache-control", "no-store")  # it may contain conversations
            return response

        return handle_authorized


async def _server(request: Request) -> Services:
    return services(request)  # the framework would run a plain function in a thread


async def _checker(request: Request) -> Caller:
    return await authorize(request, "check")


async def _agent(request: Request) -> Caller:
    return await authorize(request, "check", local=True)


async def _waiter(request: Request) -> Caller:
    return await authorize(request, "check", "approve", local=True)


async def _reader(request: Request) -> Caller:
    return await authorize(request, "check", "approve")


async def _approver(request: Request) -> Caller:
    return await authorize(request, "approve")


async def _admin(request: Request) -> Caller:
    return await authorize(request, "admin")


def _in_utc(moment: datetime) -> datetime:
    try:
        return moment.astimezone(UTC)
    except OverflowError:  # in UTC it is before the first or after the last day of the calendar
        return _FIRST if moment.year == _FIRST.year else _LAST


AgentCaller = Annotated[Caller, Depends(_agent)]
"""As `CheckCaller`; on a server without keys it may also be any program of this machine."""
WaitingCaller = Annotated[Caller, Depends(_waiter)]
"""As `ReadCaller`; on a server without keys it may also be any program of this machine."""
CheckCaller = Annotated[Caller, Depends(_checker)]
ReadCaller = Annotated[Caller, Depends(_reader)]
ApproveCaller = Annotated[Caller, Depends(_approver)]
AdminCaller = Annotated[Caller, Depends(_admin)]
Server = Annotated[Services, Depends(_server)]
Moment = Annotated[AwareDatetime, AfterValidator(_in_utc)]
Id = Annotated[str, Path(max_length=LONGEST_NAME)]
Cursor = Annotated[
    str, Field(pattern="^[A-Za-z0-9_=-]{1,4400}$", json_schema_extra={"format": "cursor"})
]
After = Annotated[Cursor | None, Query(description="`next` of the previous page")]
Limit = Annotated[int, Query(ge=1, le=200)]


def native_router() -> APIRouter:
    """Make a router for routes of the native API."""
    return APIRouter(
        prefix="/api",
        route_class=_AuthorizedRoute,
        dependencies=[  # only for the OpenAPI document: `authorize` reads all headers
            Security(APIKeyHeader(name=KEY_HEADERS[0], scheme_name="key", auto_error=False)),
            Security(HTTPBearer(scheme_name="bearer", auto_error=False)),
        ],
        default_response_class=AsciiResponse,
        responses={"default": {"model": ErrorBody, "description": "The error"}},
    )


async def find_record(server: Services, caller: Caller, id: str) -> AuditRecord:
    """The audit record of a decision.

    Raises:
        RequestError: There is no decision with this id.
    """
    record = await server.store.decision(caller.tenant, id)
    if record is None:
        raise RequestError(404, "not_found", "There is no such decision.")
    return record
