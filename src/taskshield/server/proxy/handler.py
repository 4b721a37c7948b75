"""Requests as they are served: guarded, passed on as they are, or asking for a stored answer."""

import asyncio
import json
import time
from dataclasses import replace

from starlette.requests import Request
from starlette.responses import Response

from taskshield.adapters.proxy.exchange import Body
from taskshield.adapters.proxy.openai_responses import body as responses_format
from taskshield.adapters.proxy.wire_format import WireFormat
from taskshield.core.errors import ConversationError, WireFormatError
from taskshield.server.access.auth import Caller
from taskshield.server.http.errors import RequestError
from taskshield.server.http.limits import json_body
from taskshield.server.proxy.disconnects import Relay, given_up, unless_gone
from taskshield.server.proxy.early_forwarding import EarlyForwarding
from taskshield.server.proxy.headers import Headers, read_by_us, to_client, to_upstream
from taskshield.server.proxy.notices import STORED
from taskshield.server.proxy.provider import (
    ProviderClient,
    ProviderError,
    ProviderRequest,
    ProviderResponse,
)
from taskshield.server.proxy.response_relay import CompleteRelay
from taskshield.server.proxy.round_trip import CheckedRequest, ProxyContext, RoundTrip
from taskshield.server.proxy.session_lookup import ProxyRequest, SessionLookup
from taskshield.server.proxy.stored_responses import RemovedCallsStore, gone_on
from taskshield.server.services import Services
from taskshield.server.sessions.snapshots import RequestSource

SESSION_HEADER = "x-taskshield-session"

_LONGEST_SESSION = 128


class Proxy:
    """Serves requests of any number of clients."""

    def __init__(self, server: Services, provider: ProviderClient, *, surface: str) -> None:
        self._provider = provider
        self._surface = surface
        self._ahead = EarlyForwarding(server.settings)
        self._means = ProxyContext(
            guard=server.checker,
            sessions=SessionLookup(server.checker, server.store, server.settings.policy.value()),
            rests=RemovedCallsStore(server.store),
            metrics=server.metrics,
        )

    async def guarded(
        self, request: Request, caller: Caller, path: str, wire_format: WireFormat
    ) -> Response:
        """Judge what is asked, ask the upstream, and judge what it answers.

        Args:
            request: The client's request.
            caller: Whose it is.
            path: What it asks for.
            wire_format: The format of that.

        Raises:
            Refused: It cannot be carried out.
            WireFormatError: The body is not in this format.
            StoreError: Nothing was written down, and nothing decided.
            ClientGone: Nobody waits for the answer any more.
        """
        if request.headers.get("content-encoding", "identity") != "identity":
            raise RequestError(415, "unsupported_encoding", "the body must not be compressed")
        body = await json_body(request)
        asking = _asking(
            request, caller.tenant, RequestSource(self._surface, caller.agent), body, wire_format
        )
        asked = ProviderRequest(
            method="POST",
            path=path.encode(),
            query=request.scope["query_string"],
            headers=read_by_us(to_upstream(request.scope["headers"])),
            content=await request.body(),
        )
        assert isinstance(body, dict)
        return await unless_gone(request.receive, self._guarded(asking, wire_format, body, asked))

    async def passed(self, request: Request) -> Response:
        """Pass a request on as it is, and its answer back.

        Raises:
            ProviderError: There is no answer.
            ClientGone: Nobody waits for it any more.
        """
        asked = _asked(request, to_upstream(request.scope["headers"]), await request.body())
        answered = await unless_gone(request.receive, self._provider.send(asked))
        return _relayed(answered, [])

    async def stored(self, request: Request, tenant: str, id: str) -> Response:
        """Give an answer that the provider keeps, without the calls that the client may not see.

        Raises:
            Refused: The client wants it as a stream, or there is no answer.
            ClientGone: Nobody waits for it any more.
        """
        if request.query_params.get("stream", "false") != "false":
            raise RequestError(
                400, "not_guarded", "a stored response cannot be streamed through here"
            )
        asked = _asked(request, read_by_us(to_upstream(request.scope["headers"])), b"")
        return await unless_gone(request.receive, self._stored(tenant, id, asked))

    async def _guarded(
        self, asking: ProxyRequest, wire_format: WireFormat, body: Body, asked: ProviderRequest
    ) -> Response:
        sending = None
        same = _stays_the_same(asking)
        if same or self._ahead.may_go(asking, body):  # on its way before anything else is done
            sending = asyncio.create_task(self._provider.send(asked))
        preparing = asyncio.create_task(self._prepared(asking, wire_format, body, asked))
        answered = None
        try:
            if not same:
                asked, sending = await self._judged_first(preparing, asked, sending)
            assert sending is not None
            answered = await _unless_refused(preparing, sending)
            if 300 <= answered.status < 400:
                raise ProviderError(502, "upstream_redirects", "the upstream sends us elsewhere")
            if not answered.ok:
                session = (await preparing).opened.point.id
                return _relayed(answered, [(SESSION_HEADER.encode(), session.encode("latin-1"))])
            turn = RoundTrip(
                self._means,
                wire_format,
                preparing,
                send=lambda body: self._provider.send(_with_body(asked, body)),
                first=answered,
            )
            return await _delivered(turn, answered)
        except BaseException:
            await given_up(preparing)
            if answered is not None:
                await answered.aclose()
            raise

    async def _judged_first(
        self,
        preparing: "asyncio.Task[CheckedRequest]",
        asked: ProviderRequest,
        sending: "asyncio.Task[ProviderResponse] | None",
    ) -> "tuple[ProviderRequest, asyncio.Task[ProviderResponse]]":
        """What the upstream is asked once a request is judged, and its answer on the way.

        One that went ahead counts only where nothing had to be changed.
        """
        try:
            prepared = await preparing
        except BaseException:
            await _dropped(sending)
            raise
        changed = prepared.asked is not asked
        if changed:
            self._ahead.learn(prepared.opened)
        if sending is None or changed:
            await _dropped(sending)
            sending = asyncio.create_task(self._provider.send(prepared.asked))
        return prepared.asked, sending

    async def _prepared(
        self, asking: ProxyRequest, wire_format: WireFormat, body: Body, asked: ProviderRequest
    ) -> CheckedRequest:
        """Judge a request, and make of it what the upstream is sent."""
        began = time.perf_counter()
        continues = asking.request.continues
        rest = None
        if continues is not None:
            rest = await self._means.rests.get(asking.tenant, continues)
        try:
            opened = await self._means.sessions.open(asking)
        except ConversationError as error:
            raise RequestError(400, "invalid_conversation", str(error)) from None
        texts = opened.texts()
        judged = wire_format.with_outputs(body, texts) if texts else body
        if rest is not None:
            judged = gone_on(judged, rest)
        return CheckedRequest(
            opened=opened,
            rest=rest,
            body=judged,
            asked=asked if judged is body else _with_body(asked, judged),
            spent_s=time.perf_counter() - began,
        )

    async def _stored(self, tenant: str, id: str, asked: ProviderRequest) -> Response:
        rest = await self._means.rests.get(tenant, id)
        if rest is not None and rest.previous is not None:
            asked = replace(asked, path=f"/v1/responses/{rest.previous}".encode())
        answered = await self._provider.send(asked)
        if not answered.ok:
            return _relayed(answered, [])
        try:
            answer = await _read(answered)
        finally:
            await answered.aclose()
        response, reply = answer.response, answer.complete
        assert response is not None and reply is not None
        calls = {call.id for message in reply.messages for call in message.tool_calls}
        if rest is not None:
            calls &= set(rest.refused)
        elif await self._means.sessions.knows(tenant, id):
            calls = set()
        content = b"".join(answer.release())
        if calls or response.get("id") != id:
            shown = responses_format.without_calls(response, calls, STORED) if calls else response
            content = json.dumps({**shown, "id": id}).encode()
        return _response(content, answered, [])


def _stays_the_same(asking: ProxyRequest) -> bool:
    """Whether a request goes upstream as it is, whatever is decided about it: at once, then.

    Only tools' outputs are ever rewritten, and only an answer that the provider keeps may need more
    to go on from.
    """
    request = asking.request
    return request.continues is None and all(place is None for place in request.places)


async def _unless_refused(
    preparing: "asyncio.Task[CheckedRequest]", sending: "asyncio.Task[ProviderResponse]"
) -> ProviderResponse:
    """The upstream's answer, not waited for once it is clear that the request is refused."""
    try:
        await asyncio.wait((preparing, sending), return_when=asyncio.FIRST_COMPLETED)
        if preparing.done():
            preparing.result()
        return await sending
    except BaseException:
        await _dropped(sending)
        raise


async def _dropped(sending: "asyncio.Task[ProviderResponse] | None") -> None:
    """Let go of a request that nobody wants an answer to."""
    if sending is None:
        return
    sending.cancel()
    (answered,) = await asyncio.gather(sending, return_exceptions=True)
    if isinstance(answered, ProviderResponse):
        await answered.aclose()


async def _delivered(turn: RoundTrip, answered: ProviderResponse) -> Response:
    if turn.streams:
        headers = [*to_client(answered.headers, read=True), *turn.headers()]
        return Relay(turn.chunks(), status=answered.status, headers=headers, close=turn.aclose)
    try:
        content = b"".join([chunk async for chunk in turn.chunks()])
    finally:
        await turn.aclose()
    return _response(content, answered, turn.headers())


async def _read(answered: ProviderResponse) -> CompleteRelay:
    """An answer of the Responses API in one piece."""
    answer = CompleteRelay(responses_format)
    try:
        async for chunk in answered.chunks():
            answer.feed(chunk)
        answer.close()
    except WireFormatError as error:
        told = f"the upstream sent what is not an answer: {error}"
        raise ProviderError(502, "upstream_invalid", told) from None
    return answer


def _asking(
    request: Request, tenant: str, asker: RequestSource, body: object, wire_format: WireFormat
) -> ProxyRequest:
    read = wire_format.read_request(body)
    session = request.headers.get(SESSION_HEADER)
    if session is not None and not 0 < len(session) <= _LONGEST_SESSION:
        told = f"{SESSION_HEADER} must have 1 to {_LONGEST_SESSION} characters"
        raise RequestError(400, "invalid_request", told)
    thread = None
    if wire_format is responses_format and isinstance(body, dict):
        if body.get("background"):
            told = "background responses cannot be guarded: ask without `background`"
            raise RequestError(400, "not_guarded", told)
        thread = read.continues if body.get("conversation") is not None else None
    return ProxyRequest(tenant=tenant, asker=asker, request=read, session=session, thread=thread)


def _asked(request: Request, headers: Headers, content: bytes) -> ProviderRequest:
    return ProviderRequest(
        method=request.method,
        path=request.scope["raw_path"],
        query=request.scope["query_string"],
        headers=headers,
        content=content,
    )


def _with_body(asked: ProviderRequest, body: Body) -> ProviderRequest:
    return replace(asked, content=json.dumps(body).encode())


def _relayed(answered: ProviderResponse, ours: Headers) -> Relay:
    headers = [*to_client(answered.headers, read=False), *ours]
    chunks = answered.raw_chunks()
    return Relay(chunks, status=answered.status, headers=headers, close=answered.aclose)


def _response(content: bytes, answered: ProviderResponse, ours: Headers) -> Response:
    response = Response(content, status_code=answered.status)
    length = (b"content-length", str(len(content)).encode())
    response.raw_headers = [*to_client(answered.headers, read=True), *ours, length]
    return response
