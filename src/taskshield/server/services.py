"""The parts of a running server, as routes get them."""

from dataclasses import dataclass

from starlette.requests import Request

from taskshield.core.store import Scope, Store
from taskshield.server.access.auth import Auth, Caller
from taskshield.server.dashboard.playground import Playground
from taskshield.server.operations.live_events import LiveEvents
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
    live: LiveEvents
    playground: Playground


def services(request: Request) -> Services:
    """The parts of the server that received this request."""
    found: Services = request.app.state.services
    return found


async def authorize(request: Request, scope: Scope, *others: Scope, local: bool = False) -> Caller:
    """The caller of a request. A handler calls this first.

    Args:
        request: The request.
        scope: A scope that is enough.
        *others: Others that are enough.
        local: Whether a program of this machine, as an agent is, needs no key on a server without.

    Raises:
        RequestError: There is no valid key, it has none of these scopes, or it made too many
            requests.
    """
    return await services(request).auth.authorize(request, scope, *others, local=local)
