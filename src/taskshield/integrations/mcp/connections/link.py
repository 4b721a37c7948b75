"""Connects one client with one wrapped server.

Two dispatchers of the SDK, one for each side, keep the ids, the cancellations and the pending
requests. Requests of the client go through `Gateway`; messages of the server are forwarded as they
are.
"""

import logging
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any

import anyio
from mcp import MCPError
from mcp.shared.dispatcher import CallOptions, Outbound
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher, progress_token_from_params
from mcp.shared.subscriptions import SUBSCRIPTION_ID_META_KEY
from mcp.shared.transport_context import TransportContext
from mcp_types import CONNECTION_CLOSED, RequestId

from taskshield.integrations.mcp.checks.protocols import Session
from taskshield.integrations.mcp.connections.sdk_internals import Channel
from taskshield.integrations.mcp.connections.wrapped_server import headers_of, transport
from taskshield.integrations.mcp.gateway import Gateway
from taskshield.integrations.mcp.requests.client_request import Params, Request
from taskshield.integrations.mcp.targets import Address

_log = logging.getLogger(__name__)

_CANCELLED = "notifications/cancelled"
_LISTEN = "subscriptions/listen"
_NEGOTIATING = ("initialize", "server/discover")
"""Requests that must not be cancelled."""
_LOGGED = "notifications/message"
"""Belongs to a request, but does not name it."""
_LAST_ANSWERS_S = 2.0
"""Time to answer the pending requests and to find the cause, after the server has ended."""
_WRITING_S = 0.05
"""Time to write the last answer."""


@dataclass(eq=False, kw_only=True)
class _Pending:
    """A request of the client that is not answered yet."""

    channel: Channel
    token: object
    """The token of its progress reports, if the client wants them."""
    listens: str | None
    """The server's id for it, if it is a subscription."""


class Link:
    """A connection to the wrapped server for one client."""

    def __init__(self, gateway: Gateway, client: Outbound, session: Session) -> None:
        """Make a link; `run` connects it.

        Args:
            gateway: Answers the requests.
            client: The way to the client while none of its requests is pending.
            session: The session of requests that name none.
        """
        self.ended = anyio.Event()
        """Set when the connection to the server has ended."""
        self.failure: str | None = None
        """Why the connection failed, if that is known."""
        self._gateway = gateway
        self._client = client
        self._session = session
        self._scope = anyio.CancelScope()
        self._ready = anyio.Event()
        self._server: JSONRPCDispatcher[TransportContext] | None = None
        self._pending: list[_Pending] = []
        self._numbers = count(1)
        self._capabilities: Params = {}
        self._version: str | None = None
        self._warned = False
        self._all_answered = anyio.Event()

    async def run(self) -> None:
        """Connect, and stay connected until either side ends it. Raises nothing."""
        try:
            async with transport(self._gateway.target) as (read, write):
                server = JSONRPCDispatcher(
                    read, write, on_stream_exception=self._on_invalid_message
                )
                self._server = server
                self._ready.set()
                with self._scope:  # only here, so that the connection is closed properly
                    await server.run(self._on_server_request, self._on_server_notify)
        except (OSError, ValueError) as error:
            words = getattr(error, "strerror", None)
            self.failure = (
                f"The wrapped server cannot be started: {words or 'the command is not valid'}."
            )
        except Exception as error:  # of any kind: the links of other clients must go on
            names = ", ".join(sorted(set(_kinds(error))))
            self.failure = f"The connection to the wrapped server failed ({names})."
        finally:
            self._server = None
            self._ready.set()
            self.ended.set()

    async def close(self) -> None:
        """Close the connection and wait until it has ended."""
        self._scope.cancel()
        await self.ended.wait()

    async def finish(self) -> None:
        """Wait a short time until every request is answered."""
        if self._pending:
            self._all_answered = anyio.Event()
            with anyio.move_on_after(_LAST_ANSWERS_S):
                await self._all_answered.wait()
        await anyio.sleep(_WRITING_S)

    async def on_request(
        self,
        channel: Channel,
        method: str,
        params: Params | None,
        headers: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """Answer a request of the client.

        Raises:
            MCPError: An error for the client.
        """
        given: Params = {} if params is None else params
        if method == "initialize":
            offered = given.get("capabilities")
            self._capabilities = offered if isinstance(offered, Mapping) else {}
        pending = _Pending(
            channel=channel,
            token=progress_token_from_params(given),
            listens=f"taskshield-{next(self._numbers)}" if method == _LISTEN else None,
        )
        request = Request(
            method=method,
            params=given,
            client=channel,
            session=self._session,
            headers={} if headers is None else headers,
            handshake_capabilities=self._capabilities,
        )
        self._pending.append(pending)
        try:
            result = await self._gateway.answer(request, partial(self._forward, pending))
            return (
                result if pending.listens is None else _with_client_id(result, channel.request_id)
            )
        finally:
            self._pending.remove(pending)
            if not self._pending:
                self._all_answered.set()

    async def on_notify(self, channel: Channel, method: str, params: Params | None) -> None:
        """Forward a notification of the client."""
        if method == _CANCELLED:
            return  # the client's dispatcher has handled it; its id means nothing to the server
        with suppress(MCPError):
            server = await self._connected()
            await server.notify(method, params, self._options(method, params))

    async def _on_server_request(
        self, channel: Channel, method: str, params: Params | None
    ) -> dict[str, Any]:
        return await self._way_back().send_raw_request(method, params)

    async def _on_server_notify(self, channel: Channel, method: str, params: Params | None) -> None:
        if method == _CANCELLED:
            return
        if method == "notifications/tools/list_changed":
            self._gateway.inventory.forget()
        given: Params = {} if params is None else params
        pending = self._pending_of(method, given)
        if pending is None:
            way = self._way_back() if method == _LOGGED else self._client
            await way.notify(method, params)
        elif pending.listens is None:
            await pending.channel.notify(method, params)
        else:
            await pending.channel.notify(method, _with_client_id(given, pending.channel.request_id))

    async def _on_invalid_message(self, error: Exception) -> None:
        if not self._warned:
            self._warned = True
            _log.warning("ignored output of the wrapped server that is not MCP")

    async def _forward(self, pending: _Pending, method: str, params: Params) -> dict[str, Any]:
        """Send a request to the server; its result."""
        server = await self._connected()
        options = self._options(method, params)
        if pending.listens is not None:
            options["request_id"] = pending.listens
        if method in _NEGOTIATING:
            options["cancel_on_abandon"] = False
        try:
            result = await server.send_raw_request(method, params, options)
        except MCPError as error:
            if error.code != CONNECTION_CLOSED:
                raise
            with anyio.move_on_after(_LAST_ANSWERS_S):
                await self.ended.wait()
            raise self._lost() from None
        version = result.get("protocolVersion")
        if method == "initialize" and isinstance(version, str):
            self._version = version
        return result

    def _options(self, method: str, params: Params | None) -> CallOptions:
        if not isinstance(self._gateway.target, Address):
            return {}
        given: Params = {} if params is None else params
        schema = self._gateway.inventory.schema(given.get("name"))
        return {"headers": headers_of(method, given, negotiated=self._version, schema=schema)}

    async def _connected(self) -> JSONRPCDispatcher[TransportContext]:
        await self._ready.wait()
        if self._server is None:
            raise self._lost()
        return self._server

    def _lost(self) -> MCPError:
        why = "The wrapped server has ended." if self.failure is None else self.failure
        return MCPError(CONNECTION_CLOSED, why)

    def _way_back(self) -> Outbound:
        """The way to the client. Over HTTP, a pending request is the best one."""
        open = (each.channel for each in reversed(self._pending) if each.channel.can_send_request)
        return next(open, self._client)

    def _pending_of(self, method: str, params: Params) -> _Pending | None:
        """The request that a notification names."""
        meta = params.get("_meta")
        listens = meta.get(SUBSCRIPTION_ID_META_KEY) if isinstance(meta, Mapping) else None
        token = params.get("progressToken") if method == "notifications/progress" else None
        for pending in self._pending:
            if listens is not None and pending.listens == listens:
                return pending
            if token is not None and pending.token == token:
                return pending
        return None


def _with_client_id(message: Params, id: RequestId | None) -> dict[str, Any]:
    """A message of a subscription, with the client's id of the subscription."""
    meta = message.get("_meta")
    if not isinstance(meta, Mapping) or SUBSCRIPTION_ID_META_KEY not in meta:
        return dict(message)
    return {**message, "_meta": {**meta, SUBSCRIPTION_ID_META_KEY: id}}


def _kinds(error: BaseException) -> Iterator[str]:
    """The kinds of the errors; their texts may quote messages."""
    if isinstance(error, BaseExceptionGroup):
        for each in error.exceptions:
            yield from _kinds(each)
    else:
        yield type(error).__name__
