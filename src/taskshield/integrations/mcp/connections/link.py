"""Connects one client with one wrapped server.

Two dispatchers of the SDK, one for each side, keep the ids, the cancellations and the pending
requests. Requests of the client go through `Gateway`, messages of the server through `from_server`.
"""

import logging
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from itertools import count
from typing import Any

import anyio
from mcp import MCPError
from mcp.shared.dispatcher import CallOptions, Outbound
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher, progress_token_from_params
from mcp.shared.transport_context import TransportContext
from mcp_types import (
    CONNECTION_CLOSED,
    INTERNAL_ERROR,
    PARSE_ERROR,
    REQUEST_TIMEOUT,
)

from taskshield.integrations.mcp import notes
from taskshield.integrations.mcp.checks.protocols import Session
from taskshield.integrations.mcp.connections.from_server import FromServer
from taskshield.integrations.mcp.connections.incoming import Incoming, Outgoing
from taskshield.integrations.mcp.connections.pending import (
    Pending,
    PendingRequests,
    with_subscription,
)
from taskshield.integrations.mcp.connections.sdk_internals import Channel
from taskshield.integrations.mcp.connections.wrapped_server import headers_of, transport
from taskshield.integrations.mcp.gateway import Gateway
from taskshield.integrations.mcp.requests.client_request import Params, Request
from taskshield.integrations.mcp.requests.own_errors import GatewayError
from taskshield.integrations.mcp.targets import Address

_log = logging.getLogger(__name__)

_CANCELLED = "notifications/cancelled"
_LISTEN = "subscriptions/listen"
_NEGOTIATING = ("initialize", "server/discover")
"""Requests that must not be cancelled."""
_SENDING_S = 30.0
"""Longest time for a server to take a notification."""
_CLOSED = "Connection closed"
"""What the SDK says about requests on a connection that has ended."""
_LAST_ANSWERS_S = 2.0
"""Time to answer the pending requests and to find the cause, after the server has ended."""
_WRITING_S = 0.05
"""Time to write the last answer."""


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
        self._session = session
        self._pending = PendingRequests(client)
        self._from_server = FromServer(gateway, client, session, self._pending)
        self._scope = anyio.CancelScope()
        self._ready = anyio.Event()
        self._server: JSONRPCDispatcher[TransportContext] | None = None
        self._numbers = count(1)
        self._capabilities: Params = {}
        self._version: str | None = None

    async def run(self) -> None:
        """Connect, and stay connected until either side ends it. Raises nothing."""
        try:
            async with transport(self._gateway.target) as (read, write):
                incoming = Incoming(read)
                server = JSONRPCDispatcher(
                    incoming,
                    Outgoing(write, incoming),
                    on_stream_exception=self._from_server.on_unreadable,
                )
                self._server = server
                self._ready.set()
                with self._scope:  # only here, so that the connection is closed properly
                    await server.run(self._from_server.on_request, self._from_server.on_notify)
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
        with anyio.move_on_after(_LAST_ANSWERS_S):
            await self._pending.none_left()
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
        request = Request(
            method=method,
            params=given,
            client=channel,
            session=self._session,
            headers={} if headers is None else headers,
            handshake_capabilities=self._capabilities,
        )
        pending = Pending(
            channel=channel,
            token=progress_token_from_params(given),
            listens=f"taskshield-{next(self._numbers)}" if method == _LISTEN else None,
            request=request,
        )
        self._pending.add(pending)
        try:
            result = await self._gateway.answer(request, partial(self._forward, pending))
            await self._from_server.all_passed_on()
            return (
                result if pending.listens is None else with_subscription(result, channel.request_id)
            )
        except MCPError:
            raise
        except Exception as error:  # of any kind: its text may quote messages
            _log.error("could not answer a request (%s)", type(error).__name__)
            raise GatewayError(INTERNAL_ERROR, "The gateway could not answer this.") from None
        finally:
            self._pending.remove(pending)

    async def on_notify(self, channel: Channel, method: str, params: Params | None) -> None:
        """Forward a notification of the client."""
        if method == _CANCELLED:
            return  # the client's dispatcher has handled it; its id means nothing to the server
        with suppress(MCPError), anyio.move_on_after(_SENDING_S):
            server = await self._connected()
            await server.notify(method, params, self._options(method, params))

    async def _forward(self, pending: Pending, method: str, params: Params) -> dict[str, Any]:
        """Send a request to the server; its result.

        Raises:
            MCPError: The server's error.
            GatewayError: There is no answer, or it cannot be read.
        """
        server = await self._connected()
        options = self._options(method, params)
        if pending.listens is not None:
            options["request_id"] = pending.listens
        if method in _NEGOTIATING:
            options["cancel_on_abandon"] = False
        result: dict[str, Any] | None = None
        try:
            with pending.wait():
                result = await server.send_raw_request(method, params, options)
        except MCPError as error:
            if error.code == PARSE_ERROR:
                raise GatewayError(PARSE_ERROR, notes.UNREADABLE_ANSWER) from None
            if error.code != CONNECTION_CLOSED or error.message != _CLOSED:
                raise
            with anyio.move_on_after(_LAST_ANSWERS_S):
                await self.ended.wait()
            if not self.ended.is_set():
                raise  # the server's own words
            raise self._lost() from None
        finally:
            pending.waits = False
        if result is not None:
            version = result.get("protocolVersion")
            if method == "initialize" and isinstance(version, str):
                self._version = version
            return result
        if pending.unreadable:
            raise GatewayError(PARSE_ERROR, notes.UNREADABLE_ANSWER)
        raise GatewayError(REQUEST_TIMEOUT, "The wrapped server did not answer in time.")

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

    def _lost(self) -> GatewayError:
        why = "The wrapped server has ended." if self.failure is None else self.failure
        return GatewayError(CONNECTION_CLOSED, why)


def _kinds(error: BaseException) -> Iterator[str]:
    """The kinds of the errors; their texts may quote messages."""
    if isinstance(error, BaseExceptionGroup):
        for each in error.exceptions:
            yield from _kinds(each)
    else:
        yield type(error).__name__
