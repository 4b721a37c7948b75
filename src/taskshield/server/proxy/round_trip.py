"""One guarded request from its arrival to the last byte of its answer, as a state machine.

Nothing that an agent can act on passes before it is checked and the decision is stored. Misaligned
answers go back to the model for as many rounds as the policy has; then their calls are removed.

| from | transition | when | to |
| --- | --- | --- | --- |
| Received | forward | its check cannot change it, or early forwarding allows it | Forwarded |
| Received | check | otherwise: it is checked, then sent | Checked |
| Forwarded | confirm | its check could change it; if it does, it is sent again | Checked |
| Forwarded, Checked | receive | the provider begins an answer | Answering |
| Forwarded, Checked | receive | the provider answers with an error status | Declined |
| Answering | read | a chunk has come: its text goes to the client | Answering |
| Answering | read | the answer is complete | Checking |
| Checking | judge | the answer is misaligned, and a feedback round is left | Revising |
| Checking | judge | otherwise | Releasing |
| Revising | revise | the provider begins another answer | Answering |
| Revising | revise | it does not, or this answer allows no feedback | Releasing |
| Releasing | release | it is stored how the client continues | Released |
| all but the final ones | fail | any of this raises an error | Failed |

Declined, Released and Failed are final. `aclose` ends a round trip in any state, for example when
the client disconnects. The module is long because all transitions stand beside their table.
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from taskshield.adapters.proxy.sse import comment
from taskshield.core.errors import ConversationError, StoreError, WireFormatError
from taskshield.core.messages import Message
from taskshield.server.http.errors import problem_of
from taskshield.server.http.limits import in_time
from taskshield.server.operations.logs import log
from taskshield.server.operations.metrics import Metrics
from taskshield.server.proxy.client_request import ClientRequest
from taskshield.server.proxy.early_forwarding import EarlyForwarding
from taskshield.server.proxy.provider import (
    ProviderClient,
    ProviderError,
    incomplete,
    invalid,
    redirected,
)
from taskshield.server.proxy.removed_calls import RemovedCallsStore
from taskshield.server.proxy.request_check import RequestCheck
from taskshield.server.proxy.resources import Resources, discard
from taskshield.server.proxy.response_check import check_response
from taskshield.server.proxy.response_relay import CompleteRelay, ResponseRelay, StreamRelay
from taskshield.server.proxy.session_lookup import SessionLookup
from taskshield.server.proxy.states import (
    Answer,
    Answering,
    AnswerState,
    Checked,
    Checking,
    Declined,
    Failed,
    Forwarded,
    Received,
    Released,
    Releasing,
    Revising,
    State,
    outcome,
)
from taskshield.server.sessions.checker import SessionChecker
from taskshield.server.sessions.resume_keys import ResumeKeys
from taskshield.server.threads import off_loop

_LINGER_S = 2.0
"""How long a provider may keep the connection open after the end of its answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyServices:
    """What round trips use."""

    provider: ProviderClient
    checker: SessionChecker
    sessions: SessionLookup
    requests: RequestCheck
    removed_calls: RemovedCallsStore
    early_forwarding: EarlyForwarding
    metrics: Metrics
    check_s: float
    """Longest time for the check of one answer."""


class RoundTrip:
    """One request. It owns all its tasks and all answers of the provider until `aclose`."""

    def __init__(
        self,
        services: ProxyServices,
        request: ClientRequest,
        hold: Callable[[int], None] = lambda count: None,
    ) -> None:
        """Make a round trip.

        Args:
            services: What it uses.
            request: What the client asks for.
            hold: Counts bytes of the provider's answers, and raises where there are too many.
        """
        self.state: State = Received(request=request)
        """Where it is. To be read only."""
        self._services = services
        self._hold = hold
        self._wire_format = request.wire_format
        self._resources = Resources(services.provider)

    async def start(self) -> None:
        """Go on until the provider begins to answer.

        Raises:
            Exception: There will be no answer.
        """
        while isinstance(self.state, Received | Forwarded | Checked):
            await self.step()
        if isinstance(self.state, Failed):
            raise self.state.error

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """What the client is sent. A stream that cannot go on ends with an error event.

        Raises:
            Exception: An answer in one piece cannot be given.
        """
        while True:
            for data in self.state.output:
                yield data
            if isinstance(self.state, Failed) and not self.state.in_stream:
                raise self.state.error
            if isinstance(self.state, Released | Failed):
                return
            await self.step()

    async def step(self) -> None:
        """Take the transition that leads on from the present state."""
        state = self.state
        try:
            self.state = await self._next(state)
        except Exception as error:
            self.state = await self._fail(state, error)

    async def aclose(self) -> None:
        """Stop the check of the request, and close the provider's answers."""
        await self._resources.aclose()

    async def _next(self, state: State) -> State:
        match state:
            case Received():
                request, rule = state.request, self._services.early_forwarding
                early = not request.can_change or rule.allows(request)
                return self._forward(state) if early else await self._check(state)
            case Forwarded() if state.request.can_change:
                return await self._confirm(state)
            case Forwarded() | Checked():
                return await self._receive(state)
            case Answering():
                return await self._read(state)
            case Checking():
                return await self._judge(state)
            case Revising():
                return await self._revise(state)
            case Releasing():
                return await self._release(state)
            case Declined() | Released() | Failed():
                raise AssertionError("a final state has no transition")

    def _forward(self, state: Received) -> Forwarded:
        # It is sent first, so that the provider works while the judge does.
        sending = self._resources.send(state.request.outgoing)
        checking = self._resources.start(self._services.requests.check(state.request))
        return Forwarded(request=state.request, checking=checking, sending=sending)

    async def _check(self, state: Received) -> Checked:
        checking = self._resources.start(self._services.requests.check(state.request))
        request = await checking
        return Checked(checking=checking, sending=self._resources.send(request.outgoing))

    async def _confirm(self, state: Forwarded) -> Checked:
        request, sending = await state.checking, state.sending
        if request.changed:
            await discard(sending)
            sending = self._resources.send(request.outgoing)
        return Checked(checking=state.checking, sending=sending)

    async def _receive(self, state: Forwarded | Checked) -> Answering | Declined:
        checking, sending = state.checking, state.sending
        await asyncio.wait((checking, sending), return_when=asyncio.FIRST_COMPLETED)
        if checking.done():
            checking.result()  # a request that is refused need not wait for its answer
        response = await sending
        if 300 <= response.status < 400:
            raise redirected()
        if not response.ok:
            return Declined(request=await checking, response=response)
        relay = (StreamRelay if response.is_stream else CompleteRelay)(self._wire_format)
        body = state.request.body if isinstance(state, Forwarded) else checking.result().body
        answer = Answer(checking=checking, response=response, relay=relay, body=body)
        return Answering(answer=answer, chunks=response.chunks())

    async def _read(self, state: Answering) -> Answering | Checking | Failed:
        relay = state.answer.relay
        output: list[bytes] = []
        try:
            chunk = await _next_chunk(state.chunks, relay)
            if chunk is None:
                output += await off_loop(relay.unread, relay.close)
            else:
                self._hold(len(chunk))
                for data in relay.feed(chunk):
                    output.append(data)
        except WireFormatError as error:
            return await self._fail(state, error, output)
        if chunk is not None:
            return Answering(answer=state.answer, chunks=state.chunks, output=output)
        if relay.complete is None:
            return await self._fail(state, incomplete(), output)
        return Checking(answer=state.answer, output=output)

    async def _judge(self, state: Checking) -> Revising | Releasing:
        answer, request = state.answer, await state.answer.checking
        reply = answer.relay.complete
        assert reply is not None
        sessions, is_first = self._services.sessions, not answer.checks

        async def resume_keys(message: Message) -> ResumeKeys | None:
            # After a feedback round, the client sees another message than the model's last one.
            if not is_first:
                return None
            return await sessions.resume_keys(request.session, message, reply.resume_id)

        async with in_time(self._services.check_s, "The check of the answer"):
            checked = await check_response(
                self._services.checker,
                answer.snapshot,
                reply,
                source=request.session.request.source,
                resume_keys=resume_keys,
            )
        answer = replace(answer, checks=(*answer.checks, checked))
        return (Releasing if checked.feedback is None else Revising)(answer=answer)

    async def _revise(self, state: Revising) -> Answering | Releasing:
        answer, checked = state.answer, state.answer.checks[-1]
        old = answer.relay.response
        assert old is not None and checked.feedback is not None
        try:
            body = self._wire_format.with_feedback(
                answer.body, old, checked.refused, checked.feedback
            )
            outgoing = answer.request.outgoing
            outgoing = await off_loop(len(outgoing.content), partial(outgoing.with_body, body))
            sending = self._resources.send(outgoing)
            response = await sending
        except (ConversationError, ProviderError):
            return Releasing(answer=answer)
        if not response.ok or response.is_stream is not answer.response.is_stream:
            await discard(sending)
            return Releasing(answer=answer)
        await answer.response.aclose()
        return Answering(
            answer=replace(answer, response=response, body=body),
            chunks=response.chunks(),
            output=answer.relay.next_round(),
        )

    async def _release(self, state: Releasing) -> Released:
        began = time.perf_counter()
        answer, checked, request = state.answer, state.answer.checks[-1], state.answer.request
        relay, changed = answer.relay, len(answer.checks) > 1 or not checked.allowed
        session, removed_calls = request.session, self._services.removed_calls
        if checked.allowed:
            output = list(relay.release())
        else:
            output = relay.release_without(checked.refused, checked.note)
        seen = relay.as_seen(output) if changed else relay.complete
        assert seen is not None and relay.response is not None
        if changed:  # otherwise the session was named when the answer was judged
            await self._services.sessions.remember(
                session, checked.choices, seen.messages, seen.resume_id
            )
        await removed_calls.record(
            session.request, request.removed, relay.response, checked.refused, seen.resume_id
        )
        answer = replace(answer, release_s=time.perf_counter() - began)
        if changed and isinstance(relay, StreamRelay):
            output = [comment("taskshield", answer.outcome()), *output]
        return Released(answer=answer, output=output)

    async def _fail(self, state: State, error: Exception, passed: Sequence[bytes] = ()) -> Failed:
        """End the client's stream if one has begun, and give up all that is still under way."""
        known = outcome(state)
        await self._resources.aclose()
        if isinstance(state, AnswerState) and isinstance(
            error, WireFormatError | ConversationError
        ):
            error = invalid(error)
        relay = state.answer.relay if isinstance(state, AnswerState) else None
        if not isinstance(relay, StreamRelay):
            return Failed(error=error, in_stream=False)
        if isinstance(error, StoreError):
            self._services.metrics.count_store_failure()
        problem = problem_of(error)
        if problem.status >= 500:
            log("stream failed", level=logging.ERROR, error=error, **known)
        ending = relay.fail(
            f"[Task Shield] {problem.message.rstrip('.')}. The response was stopped."
        )
        return Failed(error=error, in_stream=True, output=[*passed, *ending])


async def _next_chunk(chunks: AsyncIterator[bytes], relay: ResponseRelay) -> bytes | None:
    """The next chunk; None at the end, and where nothing that matters can follow."""
    complete = relay.complete is not None
    try:
        async with asyncio.timeout(_LINGER_S if complete else None):
            return await anext(chunks, None)
    except (ProviderError, TimeoutError):
        if not complete:
            raise
        return None
