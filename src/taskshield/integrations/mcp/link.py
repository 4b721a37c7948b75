"""One client and one wrapped server, connected: all that either says reaches the other.

Two dispatchers of the SDK stand back to back. Each keeps the ids, the cancellations and the waiting
of its own side; what is said goes through `Gateway` on its way from the client, and as it is from
the server.
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
from mcp.shared.dispatcher import CallOptions, DispatchContext, Outbound
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher, progress_token_from_params
from mcp.shared.subscriptions import SUBSCRIPTION_ID_META_KEY
from mcp.shared.transport_context import TransportContext
from mcp_types import CONNECTION_CLOSED, RequestId

from taskshield.integrations.mcp.checking import Session
from taskshield.integrations.mcp.gateway import Gateway
from taskshield.integrations.mcp.requests import Params, Request
from taskshield.integrations.mcp.targets import Address
from taskshield.integrations.mcp.upstream import headers_of, transport

_log = logging.getLogger(__name__)

_CANCELLED = "notifications/cancelled"
_LISTEN = "subscriptions/listen"
_NEGOTIATING = ("initialize", "server/discover")
"""Requests that must not be cancelled."""
_LOGGED = "notifications/message"
"""Belongs to a request, though it does not say to which."""
_FAREWELL_S = 2.0
"""Time to find an answer for every request when the server is gone, and to know why it is."""
_WRITING_S = 0.05
"""Time for the last answer to be written."""

Channel = DispatchContext[TransportContext]
"""The way back to a client while one of its requests is under way."""


@dataclass(eq=False, kw_only=True)
class _Flight:
    """A request of the client that is under way."""

    channel: Channel
    token: object
    """By which progress is reported, where the client wants that."""
    listens: str | None
    """What the server knows it by, where it is a stream of notifications."""


class Link:
    """A connection to the wrapped server, on behalf of one client."""

    def __init__(self, gateway: Gateway, client: Outbound, session: Session) -> None:
        """Make a link; `run` connects it.

        Args:
            gateway: What becomes of requests.
            client: The way to the client when none of its requests is under way.
            session: For requests that name none.
        """
        self.ended = anyio.Event()
        """Set when there is no server any more."""
        self.failure: str | None = None
        """Why the server could not be reached or was lost, where that is known."""
        self._gateway = gateway
        self._client = client
        self._session = session
        self._scope = anyio.CancelScope()
        self._ready = anyio.Event()
        self._server: JSONRPCDispatcher[TransportContext] | None = None
        self._flights: list[_Flight] = []
        self._numbers = count(1)
        self._capabilities: Params = {}
        self._version: str | None = None
        self._garbled = False
        self._landed = anyio.Event()

    async def run(self) -> None:
        """Connect, and stay connected until either side ends it. Raises nothing."""
        try:
            async with transport(self._gateway.target) as (read, write):
                server = JSONRPCDispatcher(read, write, on_stream_exception=self._on_garbage)
                self._server = server
                self._ready.set()
                with self._scope:  # not around all of it: the server is to be told goodbye
                    await server.run(self._on_server_request, self._on_server_notify)
        except (OSError, ValueError) as error:
            words = getattr(error, "strerror", None)
            self.failure = f"the wrapped server cannot be started: {words or 'a wrong command'}"
        except Exception as error:  # whatever it is, other clients have nothing to do with it
            names = ", ".join(sorted(set(_kinds(error))))
            self.failure = f"the connection to the wrapped server broke: {names}"
        finally:
            self._server = None
            self._ready.set()
            self.ended.set()

    async def close(self) -> None:
        """End it, and wait until the server is gone."""
        self._scope.cancel()
        await self.ended.wait()

    async def answered(self) -> None:
        """Wait until every request has its answer, but not for long."""
        if self._flights:
            self._landed = anyio.Event()
            with anyio.move_on_after(_FAREWELL_S):
                await self._landed.wait()
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
            MCPError: For the client.
        """
        given: Params = {} if params is None else params
        if method == "initialize":
            offered = given.get("capabilities")
            self._capabilities = offered if isinstance(offered, Mapping) else {}
        flight = _Flight(
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
            greeted=self._capabilities,
        )
        self._flights.append(flight)
        try:
            result = await self._gateway.answer(request, partial(self._forward, flight))
            return result if flight.listens is None else _renamed(result, channel.request_id)
        finally:
            self._flights.remove(flight)
            if not self._flights:
                self._landed.set()

    async def on_notify(self, channel: Channel, method: str, params: Params | None) -> None:
        """Pass a notification of the client on."""
        if method == _CANCELLED:
            return  # it names a request by an id of its own side, and has been obeyed there
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
        flight = self._flight_of(method, given)
        if flight is None:
            way = self._way_back() if method == _LOGGED else self._client
            await way.notify(method, params)
        elif flight.listens is None:
            await flight.channel.notify(method, params)
        else:
            await flight.channel.notify(method, _renamed(given, flight.channel.request_id))

    async def _on_garbage(self, error: Exception) -> None:
        if not self._garbled:
            self._garbled = True
            _log.warning("the wrapped server writes what is not MCP; it is ignored")

    async def _forward(self, flight: _Flight, method: str, params: Params) -> dict[str, Any]:
        """Have the server answer."""
        server = await self._connected()
        options = self._options(method, params)
        if flight.listens is not None:
            options["request_id"] = flight.listens
        if method in _NEGOTIATING:
            options["cancel_on_abandon"] = False
        try:
            result = await server.send_raw_request(method, params, options)
        except MCPError as error:
            if error.code != CONNECTION_CLOSED:
                raise
            with anyio.move_on_after(_FAREWELL_S):
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
        why = "the wrapped server is gone" if self.failure is None else self.failure
        return MCPError(CONNECTION_CLOSED, why)

    def _way_back(self) -> Outbound:
        """How to reach the client now: over HTTP, best while it waits for an answer."""
        open = (each.channel for each in reversed(self._flights) if each.channel.can_send_request)
        return next(open, self._client)

    def _flight_of(self, method: str, params: Params) -> _Flight | None:
        """The request that a notification names."""
        meta = params.get("_meta")
        listens = meta.get(SUBSCRIPTION_ID_META_KEY) if isinstance(meta, Mapping) else None
        token = params.get("progressToken") if method == "notifications/progress" else None
        for flight in self._flights:
            if listens is not None and flight.listens == listens:
                return flight
            if token is not None and flight.token == token:
                return flight
        return None


def _renamed(said: Params, id: RequestId | None) -> dict[str, Any]:
    """What is said on a stream of notifications, with the name that the client has for it."""
    meta = said.get("_meta")
    if not isinstance(meta, Mapping) or SUBSCRIPTION_ID_META_KEY not in meta:
        return dict(said)
    return {**said, "_meta": {**meta, SUBSCRIPTION_ID_META_KEY: id}}


def _kinds(error: BaseException) -> Iterator[str]:
    """What went wrong, without what was said."""
    if isinstance(error, BaseExceptionGroup):
        for each in error.exceptions:
            yield from _kinds(each)
    else:
        yield type(error).__name__
