"""A client's request before the checker: it becomes what the provider is sent."""

import time
from dataclasses import dataclass
from functools import partial

from taskshield.adapters.proxy.exchange import Body
from taskshield.core.errors import ConversationError
from taskshield.server.http.errors import RequestError
from taskshield.server.http.limits import in_time
from taskshield.server.proxy.client_request import ClientRequest
from taskshield.server.proxy.early_forwarding import EarlyForwarding
from taskshield.server.proxy.provider import ProviderRequest
from taskshield.server.proxy.removed_calls import RemovedCalls, RemovedCallsStore, with_results
from taskshield.server.proxy.session_lookup import MatchedSession, SessionLookup
from taskshield.server.threads import off_loop


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedRequest:
    """What the check of a request comes to."""

    session: MatchedSession
    removed: RemovedCalls | None
    """What the client does not know of the stored response that it continues."""
    body: Body
    """What the provider is sent."""
    outgoing: ProviderRequest
    """The same over HTTP."""
    changed: bool
    """Whether that is something else than what the client sent."""
    spent_s: float


class RequestCheck:
    """Checks requests."""

    def __init__(
        self,
        sessions: SessionLookup,
        removed_calls: RemovedCallsStore,
        early_forwarding: EarlyForwarding,
        most_s: float,
    ) -> None:
        """Make a check that takes at most so many seconds for all messages of a request."""
        self._sessions = sessions
        self._removed_calls = removed_calls
        self._early_forwarding = early_forwarding
        self._most_s = most_s

    async def check(self, request: ClientRequest) -> CheckedRequest:
        """Judge what is new in a request.

        Raises:
            RequestError: There are too many messages, or one makes no sense in its conversation.
            StoreError: Nothing was stored, so nothing is decided.
        """
        began = time.perf_counter()
        removed = await self._removed_calls.before(request)
        try:
            async with in_time(self._most_s, "The checks of the request"):
                session = await self._sessions.match(request)
        except ConversationError as error:
            raise RequestError(400, "invalid_conversation", str(error)) from None
        outputs = session.rewritten_outputs()
        body = request.wire_format.with_outputs(request.body, outputs) if outputs else request.body
        if removed is not None:
            body = with_results(body, removed)
        changed = body is not request.body
        outgoing = request.outgoing
        if changed:
            outgoing = await off_loop(len(outgoing.content), partial(outgoing.with_body, body))
        if changed:
            self._early_forwarding.learn(session)
        return CheckedRequest(
            session=session,
            removed=removed,
            body=body,
            outgoing=outgoing,
            changed=changed,
            spent_s=time.perf_counter() - began,
        )
