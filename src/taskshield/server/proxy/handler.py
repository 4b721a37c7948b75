"""Requests of clients as they are served: guarded, passed on, or for a stored response.

Parses requests and renders responses. What happens between is `round_trip` and `stored_responses`.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import replace
from functools import partial

from starlette.requests import Request
from starlette.responses import Response

from taskshield.adapters.proxy.wire_format import WireFormat
from taskshield.core.store import Store
from taskshield.server.access.auth import Caller
from taskshield.server.http.errors import RequestError
from taskshield.server.http.json_body import json_body
from taskshield.server.operations.metrics import Metrics
from taskshield.server.proxy.client_request import ClientRequest
from taskshield.server.proxy.disconnects import Relay, while_connected
from taskshield.server.proxy.early_forwarding import EarlyForwarding
from taskshield.server.proxy.error_answers import error_body
from taskshield.server.proxy.headers import Headers, to_client, to_provider, uncompressed
from taskshield.server.proxy.paths import check_passes
from taskshield.server.proxy.provider import ProviderClient, ProviderRequest, ProviderResponse
from taskshield.server.proxy.removed_calls import RemovedCallsStore
from taskshield.server.proxy.request_check import RequestCheck
from taskshield.server.proxy.round_trip import ProxyServices, RoundTrip
from taskshield.server.proxy.session_lookup import SessionLookup
from taskshield.server.proxy.states import Answering, Declined, outcome
from taskshield.server.proxy.stored_responses import StoredResponse, StoredResponses
from taskshield.server.sessions.checker import SessionChecker
from taskshield.server.sessions.snapshots import RequestSource
from taskshield.server.threads import off_loop
from taskshield.settings import Settings

SESSION_HEADER = "x-taskshield-session"

_LONGEST_SESSION = 128


class Proxy:
    """Serves requests of any number of clients."""

    def __init__(
        self,
        provider: ProviderClient,
        *,
        checker: SessionChecker,
        store: Store,
        metrics: Metrics,
        settings: Settings,
        surface: str,
    ) -> None:
        sessions = SessionLookup(checker, store, settings.policy.to_policy())
        removed_calls = RemovedCallsStore(store)
        early_forwarding = EarlyForwarding(settings)
        request_s = settings.server.limits.request_s
        self._provider = provider
        self._surface = surface
        self._unguarded = settings.server.upstream.unguarded
        self._stored_responses = StoredResponses(provider, sessions, removed_calls)
        self._services = ProxyServices(
            provider=provider,
            checker=checker,
            sessions=sessions,
            requests=RequestCheck(sessions, removed_calls, early_forwarding, request_s),
            removed_calls=removed_calls,
            early_forwarding=early_forwarding,
            metrics=metrics,
            check_s=request_s,
        )

    async def guarded(
        self, request: Request, caller: Caller, path: str, wire_format: WireFormat
    ) -> Response:
        """Check a request, send it to the provider, and check what the provider answers.

        Args:
            request: The client's request.
            caller: Whose it is.
            path: The path of the provider's API.
            wire_format: The format of requests to this path.

        Raises:
            RequestError: It cannot be carried out.
            WireFormatError: The body is not in this format.
            StoreError: Nothing was stored, so nothing is decided.
            ClientDisconnected: The client has disconnected.
        """
        if request.headers.get("content-encoding", "identity") != "identity":
            raise RequestError(
                415, "unsupported_encoding", "The body of the request must not be compressed."
            )
        body = await json_body(request)
        content = await request.body()
        parsed = await off_loop(len(content), partial(wire_format.read_request, body))
        assert isinstance(body, dict)
        session = _session(request)
        if parsed.in_background:
            raise RequestError(
                400,
                "not_guarded",
                "Background responses cannot be guarded. Send the request without `background`.",
            )
        headers = uncompressed(to_provider(request.scope["headers"]))
        outgoing = _outgoing(request, headers, content)
        client_request = ClientRequest(
            tenant=caller.tenant,
            source=RequestSource(self._surface, caller.agent),
            wire_format=wire_format,
            parsed=parsed,
            body=body,
            outgoing=replace(outgoing, method="POST", path=path.encode()),
            session=session,
        )
        round_trip = RoundTrip(self._services, client_request, request.state.hold_answer)
        return await while_connected(request.receive, _answered(round_trip))

    async def passed(self, request: Request, path: str) -> Response:
        """Pass a request on as it is, and its response back.

        Raises:
            RequestError: Its response could hold a call.
            ProviderError: There is no response.
            ClientDisconnected: The client has disconnected.
        """
        check_passes(request.method, path, self._unguarded)
        headers = to_provider(request.scope["headers"])
        outgoing = _outgoing(request, headers, await request.body())
        response = await while_connected(request.receive, self._provider.send(outgoing))
        return _passed_on(response)

    async def stored(self, request: Request, tenant: str, id: str) -> Response:
        """Give a response that the provider stores, without the calls that were removed.

        Raises:
            RequestError: The client wants it as a stream, or there is no response.
            ClientDisconnected: The client has disconnected.
        """
        if request.query_params.get("stream", "false") != "false":
            raise RequestError(
                400,
                "not_guarded",
                "A stored response cannot be guarded as a stream. Ask for it without `stream`.",
            )
        headers = uncompressed(to_provider(request.scope["headers"]))
        outgoing = _outgoing(request, headers, b"")
        found: StoredResponse = await while_connected(
            request.receive, self._stored_responses.get(tenant, id, outgoing)
        )
        return _complete(found.content, found.response, [])


async def _answered(round_trip: RoundTrip) -> Response:
    """The response to a guarded request: a stream once it begins, any other once it is complete."""
    try:
        await round_trip.start()
        state = round_trip.state
        if isinstance(state, Declined):
            response, content = state.response, await error_body(state.response)
        else:
            assert isinstance(state, Answering)
            response = state.answer.response
            if response.is_stream:
                chunks, headers = round_trip.chunks(), _checks(round_trip)
                return _relay(response, chunks, headers, read=True, close=round_trip.aclose)
            content = b"".join([chunk async for chunk in round_trip.chunks()])
    except BaseException:
        await round_trip.aclose()
        raise
    await round_trip.aclose()
    return _complete(content, response, _checks(round_trip))


def _session(request: Request) -> str | None:
    session = request.headers.get(SESSION_HEADER)
    if session is not None and not 0 < len(session) <= _LONGEST_SESSION:
        raise RequestError(
            400,
            "invalid_request",
            f"The header {SESSION_HEADER} must have 1 to {_LONGEST_SESSION} characters.",
        )
    return session


def _checks(round_trip: RoundTrip) -> Headers:
    """What is known about the checks by now, as headers."""
    known = outcome(round_trip.state).items()
    return [(f"x-taskshield-{name}".encode(), value.encode("latin-1")) for name, value in known]


def _outgoing(request: Request, headers: Headers, content: bytes) -> ProviderRequest:
    return ProviderRequest(
        method=request.method,
        path=request.scope["raw_path"],
        query=request.scope["query_string"],
        headers=headers,
        content=content,
    )


def _passed_on(response: ProviderResponse) -> Relay:
    return _relay(response, response.raw_chunks(), [], read=False, close=response.aclose)


def _relay(
    response: ProviderResponse,
    chunks: AsyncGenerator[bytes, None],
    headers: Headers,
    *,
    read: bool,
    close: Callable[[], Awaitable[None]],
) -> Relay:
    headers = [*to_client(response.headers, read=read), *headers]
    return Relay(chunks, status=response.status, headers=headers, close=close)


def _complete(content: bytes, response: ProviderResponse, headers: Headers) -> Response:
    complete = Response(content, status_code=response.status)
    length = (b"content-length", str(len(content)).encode())
    complete.raw_headers = [*to_client(response.headers, read=True), *headers, length]
    return complete
