"""One turn: a request that was judged goes to the model, and its answer to the client.

Nothing that an agent can act on passes before it is judged and the decision is written down.
Misaligned steps go back to the model, for as many rounds as the policy has; then they are removed.
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

from taskshield.adapters.proxy.exchange import Body, Reply
from taskshield.adapters.proxy.openai_responses import body as responses_format
from taskshield.adapters.proxy.wire_format import WireFormat
from taskshield.core.errors import ConversationError, StoreError, WireFormatError
from taskshield.core.messages import Message
from taskshield.server.http.errors import problem_of
from taskshield.server.operations.logs import log
from taskshield.server.operations.metrics import Metrics
from taskshield.server.proxy.disconnects import given_up
from taskshield.server.proxy.headers import Headers
from taskshield.server.proxy.provider import ProviderError, ProviderRequest, ProviderResponse
from taskshield.server.proxy.response_check import CheckedChoice, CheckedResponse, judge
from taskshield.server.proxy.response_relay import CompleteRelay, ResponseRelay, StreamRelay
from taskshield.server.proxy.session_lookup import MatchedSession, SessionLookup
from taskshield.server.proxy.stored_responses import RemovedCalls, RemovedCallsStore, rest_of
from taskshield.server.sessions.checker import SessionChecker
from taskshield.server.sessions.resume_keys import ResumeKeys
from taskshield.server.sessions.snapshots import SessionSnapshot

_LINGER_S = 2.0
"""How long an upstream may keep the connection open after the end of its answer."""

Send = Callable[[Body], Awaitable[ProviderResponse]]
"""Asks the upstream that the first request went to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyContext:
    """What turns are made with."""

    guard: SessionChecker
    sessions: SessionLookup
    rests: RemovedCallsStore
    metrics: Metrics


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedRequest:
    """A request that was judged."""

    opened: MatchedSession
    rest: RemovedCalls | None
    """What was added about an earlier answer."""
    body: Body
    """What the upstream is sent."""
    asked: ProviderRequest
    """The same as it goes over the wire."""
    spent_s: float
    """Time that this took."""


class RoundTrip:
    """The way of one request's answer."""

    def __init__(
        self,
        means: ProxyContext,
        wire_format: WireFormat,
        preparing: "asyncio.Task[CheckedRequest]",
        *,
        send: Send,
        first: ProviderResponse,
    ) -> None:
        """Begin.

        Args:
            means: What the server has.
            wire_format: The format of the answer.
            preparing: The request, which may still be with the judge: text need not wait for that.
            send: Sends another request.
            first: What the upstream answers.
        """
        self._means = means
        self._wire_format = wire_format
        self._preparing = preparing
        self._send = send
        self._answered = first
        self._answer: ResponseRelay = (
            StreamRelay(wire_format) if first.is_stream else CompleteRelay(wire_format)
        )
        self._body: Body | None = None
        self._point: SessionSnapshot | None = None
        self._rounds = 0
        self._sent: list[bytes] = []
        self._spent_s = 0.0
        self._verdict: CheckedChoice | None = None

    @property
    def streams(self) -> bool:
        """Whether the answer is a stream."""
        return isinstance(self._answer, StreamRelay)

    def headers(self) -> Headers:
        """What the client is told about the checks, as far as it is known now."""
        told = self._outcome().items()
        return [(f"x-taskshield-{name}".encode(), text.encode("latin-1")) for name, text in told]

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """What the client is sent.

        A stream that cannot go on ends with an error of its wire.

        Raises:
            Exception: An answer in one piece cannot be given.
        """
        try:
            while True:
                async for data in self._taken():
                    yield data
                judged = await self._judged()
                if not await self._tries_again(judged):
                    break
                for data in self._answer.next_round():
                    yield self._noted(data)
            for data in await self._ending(judged):
                yield data
        except Exception as error:
            for data in self._failed(error):
                yield data

    async def aclose(self) -> None:
        """Let go of the upstream and the judge."""
        await given_up(self._preparing)
        await self._answered.aclose()

    async def _taken(self) -> AsyncIterator[bytes]:
        """Take in one answer of the upstream."""
        answer, chunks = self._answer, self._answered.chunks()
        try:
            while (chunk := await _next(chunks, answer)) is not None:
                for data in answer.feed(chunk):
                    yield self._noted(data)
            for data in answer.close():
                yield self._noted(data)
        except WireFormatError as error:
            told = f"the upstream sent what is not an answer: {error}"
            raise ProviderError(502, "upstream_invalid", told) from None
        if answer.complete is None:
            raise ProviderError(502, "upstream_broke_off", "the upstream's answer broke off")

    async def _judged(self) -> CheckedResponse:
        means, prepared = self._means, await self._preparing
        if self._point is None:
            self._point, self._spent_s = prepared.opened.point, prepared.spent_s
        began = time.perf_counter()
        reply = _whole(self._answer.complete)
        judged = await judge(
            means.guard,
            self._point,
            reply,
            asker=prepared.opened.asking.asker,
            naming=lambda message: self._naming(prepared.opened, message, reply),
        )
        self._verdict = judged.worst
        self._spent_s += time.perf_counter() - began
        return judged

    def _naming(self, opened: MatchedSession, message: Message, reply: Reply) -> ResumeKeys | None:
        """How the client goes on from a message that it gets as it is; None where others came."""
        return (
            None if self._rounds else self._means.sessions.naming(opened, message, self._id(reply))
        )

    def _id(self, reply: Reply) -> str | None:
        """By which the client may go on from an answer."""
        return reply.id if self._wire_format is responses_format else None

    async def _tries_again(self, judged: CheckedResponse) -> bool:
        """Whether the model gets, and takes, another try."""
        feedback, response = judged.feedback, self._answer.response
        if feedback is None or response is None:
            return False
        before = (await self._preparing).body if self._body is None else self._body
        try:
            body = self._wire_format.with_feedback(before, response, judged.refused, feedback)
            answered = await self._send(body)
        except (ConversationError, ProviderError):
            return False
        if not answered.ok or answered.is_stream is not self.streams:
            await answered.aclose()
            return False
        await self._answered.aclose()
        self._answered, self._body = answered, body
        self._point = judged.choices[0].point
        self._rounds += 1
        return True

    async def _ending(self, judged: CheckedResponse) -> list[bytes]:
        """The rest of what the client gets, once it can go on from there."""
        began = time.perf_counter()
        answer, changed = self._answer, self._rounds > 0 or not judged.allowed
        if judged.allowed:
            ending = answer.release()
        else:
            ending = answer.release_without(judged.refused, judged.note)
        seen = _whole(answer.complete)
        opened = (await self._preparing).opened
        if changed:  # otherwise the point was named when it was written down
            seen = _whole(answer.as_seen(b"".join([*self._sent, *ending])))
            await self._means.sessions.answered(
                opened, judged.choices, seen.messages, self._id(seen)
            )
        await self._keep_rest(judged, seen)
        self._spent_s += time.perf_counter() - began
        return [_comment(self._outcome()), *ending] if changed and self.streams else ending

    async def _keep_rest(self, judged: CheckedResponse, seen: Reply) -> None:
        """Keep what an answer that the provider keeps lacks, for whoever goes on from it."""
        if self._wire_format is not responses_format:
            return
        prepared, id = await self._preparing, self._id(seen)
        asking = prepared.opened.asking
        assert self._answer.response is not None
        rest = rest_of(self._answer.response, judged.refused)
        if id is not None and (rest.refused or rest.previous != id):
            await self._means.rests.put(asking.tenant, id, rest)
        if asking.thread is not None and (rest.refused or prepared.rest is not None):
            await self._means.rests.put(asking.tenant, asking.thread, rest)

    def _failed(self, error: Exception) -> list[bytes]:
        if not isinstance(self._answer, StreamRelay):
            raise error
        if isinstance(error, StoreError):
            self._means.metrics.store_failed()
        problem = problem_of(error)
        if problem.status >= 500:
            log("stream failed", level=logging.ERROR, error=error, **self._outcome())
        return self._answer.failed(f"[Task Shield] {problem.message}; no more is passed on")

    def _noted(self, data: bytes) -> bytes:
        self._sent.append(data)
        return data

    def _outcome(self) -> dict[str, str]:
        """What is known about the checks by now."""
        choice = self._verdict
        if choice is not None:
            return {
                "session": choice.point.id,
                "decision": choice.decision.id,
                "verdict": choice.verdict,
                "time-ms": f"{self._spent_s * 1000:.1f}",
            }
        done = self._preparing.done() and self._preparing.exception() is None
        return {"session": self._preparing.result().opened.point.id} if done else {}


async def _next(chunks: AsyncIterator[bytes], answer: ResponseRelay) -> bytes | None:
    """The next chunk; None at the end, and where nothing that matters can follow."""
    whole = answer.complete is not None
    try:
        async with asyncio.timeout(_LINGER_S if whole else None):
            return await anext(chunks, None)
    except (ProviderError, TimeoutError):
        if not whole:
            raise
        return None


def _whole(reply: Reply | None) -> Reply:
    assert reply is not None
    return reply


def _comment(told: dict[str, str]) -> bytes:
    """Words in a stream of events that no client takes for an event."""
    return f": taskshield {' '.join(f'{key}={text}' for key, text in told.items())}\n\n".encode()
