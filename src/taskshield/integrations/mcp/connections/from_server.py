"""What a wrapped server sends on its own: its questions and its notifications.

Questions are judged by `requests.questions`, notifications by `notices`. What MCP does not define
is refused.
"""

import logging
import math
from typing import Any

import anyio
from mcp import MCPError
from mcp.shared.dispatcher import Outbound
from mcp.shared.subscriptions import SUBSCRIPTION_ID_META_KEY
from mcp_types import INVALID_REQUEST, METHOD_NOT_FOUND

from taskshield.integrations.mcp import notes
from taskshield.integrations.mcp.checks.protocols import Session
from taskshield.integrations.mcp.connections import notices
from taskshield.integrations.mcp.connections.pending import Pending, PendingRequests
from taskshield.integrations.mcp.connections.sdk_internals import Channel
from taskshield.integrations.mcp.connections.wire import UnreadableMessageError
from taskshield.integrations.mcp.gateway import Gateway
from taskshield.integrations.mcp.requests import questions
from taskshield.integrations.mcp.requests.client_request import Params

_log = logging.getLogger(__name__)

_LAST_NOTICES_S = 2.0
"""Longest time that an answer waits for the notifications before it."""


class FromServer:
    """Passes messages of one server on to its client."""

    def __init__(
        self, gateway: Gateway, client: Outbound, session: Session, pending: PendingRequests
    ) -> None:
        self._gateway = gateway
        self._client = client
        self._session = session
        self._pending = pending
        self._notices = notices.Notices()
        self._in_turn = anyio.Lock()
        self._warned = False

    async def on_request(
        self, channel: Channel, method: str, params: Params | None
    ) -> dict[str, Any]:
        """Answer a request of the server.

        Raises:
            MCPError: The client's error, or the request is refused.
        """
        if method == "ping":
            return {}
        if not questions.is_known(method):
            raise MCPError(METHOD_NOT_FOUND, "This gateway does not know such requests.")
        if method in questions.WORDLESS:
            return await self._pending.way_back().send_raw_request(method, None)
        if not await questions.may_pass(self._session_of(self._pending.last), params):
            _log.warning("refused a request of the wrapped server: %s", method)
            raise MCPError(INVALID_REQUEST, notes.QUESTION_REFUSED)
        waiting = self._pending.waiting
        for each in waiting:
            each.heard_of(until=math.inf)  # a person may take long to answer
        try:
            return await self._pending.way_back().send_raw_request(method, params)
        finally:
            for each in waiting:
                each.heard_of()

    async def on_notify(self, channel: Channel, method: str, params: Params | None) -> None:
        """Forward a notification of the server, or a part of it, or nothing."""
        if method == notices.TOOLS_CHANGED:
            self._gateway.inventory.forget()
        given: Params = {} if params is None else params
        if method == notices.PROGRESS:
            pending = self._pending.reported(given.get("progressToken"))
            if pending is None:
                return
            pending.heard_of()
        else:
            pending = self._pending.subscribed(given)
        async with self._in_turn:  # those that are judged and those that are not keep their order
            await self._pass_on(method, given, pending)

    async def all_passed_on(self) -> None:
        """Wait a short time until the notifications that have arrived have been passed on."""
        with anyio.move_on_after(_LAST_NOTICES_S):
            async with self._in_turn:
                pass

    async def _pass_on(self, method: str, given: Params, pending: Pending | None) -> None:
        about = self._pending.last if pending is None else pending
        passed = await self._notices.passed(method, given, lambda: self._session_of(about))
        if passed is None:
            return
        if pending is None:
            logged = method == notices.LOGGED
            way = self._pending.way_back() if logged else self._client
            await way.notify(method, passed or None)
        elif pending.listens is None:
            await pending.channel.notify(method, passed)
        else:
            meta = {SUBSCRIPTION_ID_META_KEY: pending.channel.request_id}
            await pending.channel.notify(method, {**passed, "_meta": meta})

    async def on_unreadable(self, error: Exception) -> None:
        """Note a message that is not MCP. If it can only be one answer, its request ends."""
        if not self._warned:
            self._warned = True
            _log.warning("ignored output of the wrapped server that is not MCP")
        waiting = self._pending.waiting
        if isinstance(error, UnreadableMessageError) and error.answers and len(waiting) == 1:
            waiting[0].give_up()

    def _session_of(self, pending: Pending | None) -> Session:
        """The session of a request, or else that of the client."""
        if pending is None:
            return self._session
        try:
            return self._gateway.session_of(pending.request)
        except MCPError:  # that request will get the error
            return self._session
