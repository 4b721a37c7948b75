"""A round trip without sockets: a scripted provider, and all services in memory."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from typing import Any

from taskshield.adapters.proxy.openai_chat import body as chat_format
from taskshield.adapters.proxy.wire_format import WireFormat
from taskshield.core.judge import Judge
from taskshield.server.operations.metrics import Metrics
from taskshield.server.proxy.early_forwarding import EarlyForwarding
from taskshield.server.proxy.headers import Headers
from taskshield.server.proxy.provider import ProviderClient, ProviderRequest, ProviderResponse
from taskshield.server.proxy.removed_calls import RemovedCallsStore
from taskshield.server.proxy.request_check import RequestCheck
from taskshield.server.proxy.round_trip import ProxyServices, RoundTrip
from taskshield.server.proxy.session_lookup import SessionLookup
from taskshield.settings import load
from tests.adapters.proxy.streams import Said
from tests.server.providers.scripted import Asked, streamed, whole
from tests.server.proxy.stage import client_request
from tests.server.stage import Failing, checker


class ScriptedResponse(ProviderResponse):
    """A response that gives these chunks; an exception among them is raised."""

    def __init__(
        self, *chunks: bytes | Exception, status: int = 200, is_stream: bool = False
    ) -> None:
        self._chunks = chunks
        self._status = status
        self._is_stream = is_stream
        self.closed = False

    @property
    def status(self) -> int:
        return self._status

    @property
    def headers(self) -> Headers:
        return []

    @property
    def is_stream(self) -> bool:
        return self._is_stream

    async def raw_chunks(self) -> AsyncGenerator[bytes, None]:
        for chunk in self._chunks:
            if isinstance(chunk, Exception):
                raise chunk
            yield chunk

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        async for chunk in self.raw_chunks():
            yield chunk

    async def aclose(self) -> None:
        self.closed = True


class ScriptedProvider(ProviderClient):
    """Answers each request with the next of these; an exception is raised, None never comes."""

    def __init__(self, *script: ScriptedResponse | Exception | None) -> None:
        self.script = list(script)
        self.asked: list[ProviderRequest] = []
        self.answered: list[ScriptedResponse] = []
        self.cancelled = 0

    async def send(self, request: ProviderRequest) -> ProviderResponse:
        self.asked.append(request)
        answer = self.script.pop(0)
        if answer is None:
            try:
                await asyncio.Event().wait()
            finally:
                self.cancelled += 1
        await asyncio.sleep(0)
        if isinstance(answer, Exception):
            raise answer
        assert answer is not None
        self.answered.append(answer)
        return answer


def answering(
    said: Said, *, streams: bool = False, path: str = "/v1/chat/completions"
) -> ScriptedResponse:
    """The response of a provider that says this."""
    asked = Asked(method="POST", path=path, query="", headers={}, content=b"{}")
    chunks = streamed(asked, said) if streams else [whole(asked, said)]
    return ScriptedResponse(*chunks, is_stream=streams)


def round_trip(
    provider: ProviderClient,
    body: dict[str, Any],
    *,
    wire_format: WireFormat = chat_format,
    store: Failing | None = None,
    judge: Judge | None = None,
    early: bool = False,
    rounds: int = 3,
    check_s: float = 120.0,
    hold: Callable[[int], None] = lambda count: None,
) -> RoundTrip:
    """A round trip in its first state."""
    store = Failing() if store is None else store
    given = {"server": {"upstream": {"ahead": early}}, "policy": {"rounds": rounds}}
    settings = load(given, environment={})
    policy = settings.policy.to_policy()
    checking = checker(store, by=judge, policy=policy)
    sessions, removed_calls = SessionLookup(checking, store, policy), RemovedCallsStore(store)
    forwarding = EarlyForwarding(settings)
    services = ProxyServices(
        provider=provider,
        checker=checking,
        sessions=sessions,
        requests=RequestCheck(sessions, removed_calls, forwarding, check_s),
        removed_calls=removed_calls,
        early_forwarding=forwarding,
        metrics=Metrics(),
        check_s=check_s,
    )
    return RoundTrip(services, client_request(wire_format, body), hold)
