"""The requests of one client that are not answered yet."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio
from mcp.shared.dispatcher import Outbound
from mcp.shared.subscriptions import SUBSCRIPTION_ID_META_KEY

from taskshield.integrations.mcp.connections.sdk_internals import Channel
from taskshield.integrations.mcp.requests.client_request import Params, Request

_SILENCE_S = 600.0
"""Longest time without an answer, and without a report of progress, for a request."""


@dataclass(eq=False, kw_only=True)
class Pending:
    """A request of the client that is not answered yet."""

    channel: Channel
    request: Request
    token: object
    """The token of its progress reports, if the client wants them."""
    listens: str | None
    """The server's id for it, if it is a subscription."""
    waits: bool = False
    """Whether the server has to answer now."""
    unreadable: bool = False
    """Whether the server has sent an answer that cannot be read."""
    _scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)

    def wait(self) -> anyio.CancelScope:
        """A scope for the wait for the server, which does not last for ever."""
        self._scope, self.waits = anyio.CancelScope(), True
        self.heard_of()
        return self._scope

    def heard_of(self, *, until: float | None = None) -> None:
        """Start the time for the answer again, or wait until then."""
        limit = anyio.current_time() + _SILENCE_S if self.listens is None else math.inf
        self._scope.deadline = limit if until is None else until

    def give_up(self) -> None:
        """End the wait: the answer has arrived, and it cannot be read."""
        self.unreadable = True
        self._scope.cancel()


class PendingRequests:
    """All of them, in the order in which they arrived."""

    def __init__(self, client: Outbound) -> None:
        """Start with none.

        Args:
            client: The way to the client while no request is pending.
        """
        self._client = client
        self._all: list[Pending] = []
        self._done = anyio.Event()

    def add(self, pending: Pending) -> None:
        """Note that a request has arrived."""
        self._all.append(pending)

    def remove(self, pending: Pending) -> None:
        """Note that it is answered."""
        self._all.remove(pending)
        if not self._all:
            self._done.set()

    async def none_left(self) -> None:
        """Wait until every request is answered."""
        if self._all:
            self._done = anyio.Event()
            await self._done.wait()

    @property
    def last(self) -> Pending | None:
        """The request that arrived last."""
        return self._all[-1] if self._all else None

    @property
    def waiting(self) -> list[Pending]:
        """Those that the server has to answer now."""
        return [each for each in self._all if each.waits]

    def way_back(self) -> Outbound:
        """The way to the client. Over HTTP, a pending request is the best one."""
        open = (each.channel for each in reversed(self._all) if each.channel.can_send_request)
        return next(open, self._client)

    def reported(self, token: object) -> Pending | None:
        """The request that a report of progress is about."""
        found = (each for each in self._all if token is not None and each.token == token)
        return next(found, None)

    def subscribed(self, params: Params) -> Pending | None:
        """The subscription that a notification belongs to."""
        id = _subscription(params)
        return next((each for each in self._all if id is not None and each.listens == id), None)


def with_subscription(message: Params, id: object) -> dict[str, Any]:
    """A result of a subscription, with the client's id of the subscription."""
    if _subscription(message) is None:
        return dict(message)
    return {**message, "_meta": {**message["_meta"], SUBSCRIPTION_ID_META_KEY: id}}


def _subscription(message: Params) -> object:
    meta = message.get("_meta")
    return meta.get(SUBSCRIPTION_ID_META_KEY) if isinstance(meta, Mapping) else None
