"""What every route has at hand."""

from dataclasses import dataclass

from starlette.requests import Request

from taskshield.core.store import Scope, Store
from taskshield.server.access.auth import Auth, Caller
from taskshield.server.dashboard.playground import Playground
from taskshield.server.operations.live_events import Live
from taskshield.server.operations.metrics import Metrics
from taskshield.server.operations.readiness import Readiness
from taskshield.server.sessions.approvals import Approvals
from taskshield.server.sessions.checker import SessionChecker
from taskshield.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """The parts of a running server."""

    settings: Settings
    store: Store
    checker: SessionChecker
    auth: Auth
    approvals: Approvals
    metrics: Metrics
    readiness: Readiness
    live: Live
    playground: Playground


def services(request: Request) -> Services:
    """The parts of the server that this request came to."""
    found: Services = request.app.state.services
    return found


async def admitted(request: Request, scope: Scope, *others: Scope) -> Caller:
    """Who asks; the first thing that a handler does.

    Raises:
        Refused: There is no good key, it has none of these scopes, or it has asked too often.
    """
    return await services(request).auth.admit(request, scope, *others)
