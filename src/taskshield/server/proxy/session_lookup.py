"""Which session a request belongs to, and which of its messages were judged before.

A client names its session in a header, continues a response that the provider stores, or just
sends the whole conversation again: then the session is found by the messages.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from taskshield.adapters.proxy.exchange import Place
from taskshield.core.decisions import Decision
from taskshield.core.levels import Level
from taskshield.core.messages import Conversation, Message, text_message
from taskshield.core.policy import Policy
from taskshield.core.store import Store
from taskshield.engine.decide import decide
from taskshield.server.proxy.client_request import ClientRequest
from taskshield.server.proxy.response_check import CheckedChoice
from taskshield.server.sessions.checker import SessionChecker
from taskshield.server.sessions.resume_keys import ResumeKeys
from taskshield.server.sessions.snapshots import SessionSnapshot, new_snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchedSession:
    """The session of a request, with all messages of the request judged."""

    request: ClientRequest
    snapshot: SessionSnapshot
    """The session after the request."""
    decisions: tuple[Decision | None, ...]
    """One for each message of the request; None for instructions that the session has already."""

    @property
    def known(self) -> tuple[Decision, ...]:
        """The decisions that there are."""
        return tuple(decision for decision in self.decisions if decision is not None)

    def rewritten_outputs(self) -> Mapping[Place, str]:
        """What the model reads instead of tools' outputs, where that is another text."""
        parsed = self.request.parsed
        judged = zip(self.request.messages, parsed.places, self.decisions, strict=True)
        return {
            place: decision.content
            for message, place, decision in judged
            if place is not None and decision is not None and decision.content != message.text
        }


class SessionLookup:
    """Finds sessions, and stores the names by which they are found again."""

    def __init__(self, checker: SessionChecker, store: Store, policy: Policy) -> None:
        self._checker = checker
        self._store = store
        self._can_escalate = _can_escalate(policy)

    async def match(self, request: ClientRequest) -> MatchedSession:
        """Find the session of a request, and judge what is new in the request.

        Raises:
            RequestError: There are too many messages.
            ConversationError: A message makes no sense in this conversation.
            StoreError: Nothing was stored, so nothing is decided.
        """
        waiting = await self._waiting_for_approval(request) if self._can_escalate else None
        if waiting is not None:
            return waiting
        if request.parsed.continues is not None:
            return await self._checked(request, await self._continued(request))
        if request.session is not None:
            return await self._in_named_session(request)
        result = await self._checker.check_conversation(
            request.tenant, request.parsed.conversation, source=request.source
        )
        return MatchedSession(request=request, snapshot=result.snapshot, decisions=result.decisions)

    async def remember(
        self,
        session: MatchedSession,
        choices: Sequence[CheckedChoice],
        seen: Sequence[Message],
        response_id: str | None,
    ) -> None:
        """Let the client continue from an answer that was changed.

        Args:
            session: The session of the request.
            choices: The choices of the answer.
            seen: The same as the client sees them.
            response_id: By which the client can continue; None where it cannot.
        """
        for choice, message in zip(choices, seen, strict=True):
            waits = choice.verdict == "escalate"
            names = await self._names(session.request, message, response_id, waits=waits)
            decisions = (*session.known, choice.decision)
            await self._checker.finder.remember(choice.snapshot, names, decisions)

    async def resume_keys(
        self, session: MatchedSession, answer: Message, response_id: str | None
    ) -> ResumeKeys:
        """How the client continues from an answer that it gets as it is."""
        return ResumeKeys(
            names=await self._names(session.request, answer, response_id, waits=False),
            decisions=session.known,
            unless=lambda decision: not decision.allowed,
        )

    async def knows(self, tenant: str, response_id: str) -> bool:
        """Whether a response that the provider stores was checked here and allowed."""
        return await self._checker.finder.named(tenant, _response_name(response_id)) is not None

    async def _names(
        self, request: ClientRequest, answer: Message, response_id: str | None, *, waits: bool
    ) -> tuple[str, ...]:
        """Names by which a client may ask for what follows an answer."""
        names = [await self._checker.finder.name_of(_whole_conversation(request, answer))]
        if request.session is not None:
            names.append((await request.names(answer))[-1])
        if request.session is not None or waits:
            names.append((await request.names())[-1])
        ids = (request.parsed.provider_conversation, response_id)
        return (*names, *(_response_name(id) for id in ids if id is not None))

    async def _waiting_for_approval(self, request: ClientRequest) -> MatchedSession | None:
        """The session of an earlier, equal request whose answer waits for a person.

        The session continues after that answer, so that an approval of it counts.
        """
        name = (await request.names())[-1]
        found = await self._checker.finder.named(request.tenant, name)
        if found is None:
            return None
        has_decision = [message.level is not Level.SYSTEM for message in request.messages]
        known = found.decisions[:-1]
        if len(known) == len(has_decision):
            has_decision = [True] * len(has_decision)
        elif len(known) != sum(has_decision):
            return None
        left = iter(known)
        return MatchedSession(
            request=request,
            snapshot=found.snapshot,
            decisions=tuple(
                _decision_on(message, next(left)) if has else None
                for message, has in zip(request.messages, has_decision, strict=True)
            ),
        )

    async def _in_named_session(self, request: ClientRequest) -> MatchedSession:
        """The session that the client names, where the conversation continues it.

        Otherwise it is judged from its beginning; where the name is taken, in another session.
        """
        names, messages = await request.names(), request.messages
        answers = [number for number, each in enumerate(messages) if each.level is Level.ASSISTANT]
        for length in (len(messages), answers[-1] + 1 if answers else 0):
            found = await self._checker.finder.named(request.tenant, names[length])
            if found is not None:
                known = zip(messages[:length], found.decisions, strict=False)
                decisions = [_decision_on(message, decision) for message, decision in known]
                return await self._checked(request, found.snapshot, decisions)
        return await self._checked(request, _new_session(request))

    async def _continued(self, request: ClientRequest) -> SessionSnapshot:
        """The session of the response or the conversation that a request continues."""
        name = _response_name(str(request.parsed.continues))
        found = await self._checker.finder.named(request.tenant, name)
        if found is not None and request.parsed.provider_conversation is None:
            return found.snapshot
        # Every answer is added at the end of a provider's conversation, so its newest snapshot
        # counts. And where the session of a response has other messages by now, it still has the
        # user's tasks.
        session = (await self._store.named(request.tenant, [name])).get(name)
        if session is not None:
            return await self._checker.finder.newest(request.tenant, session)
        return _new_session(request) if found is None else found.snapshot

    async def _checked(
        self, request: ClientRequest, snapshot: SessionSnapshot, known: Sequence[Decision] = ()
    ) -> MatchedSession:
        """Judge the messages of a request that follow those with a known decision."""
        rest = request.messages[len(known) :]
        repeats = request.parsed.continues is not None
        repeated = [repeats and _is_repeated(message, snapshot) for message in rest]
        new = [message for message, again in zip(rest, repeated, strict=True) if not again]
        snapshot = snapshot.with_tools(request.parsed.conversation.tools)
        decided: tuple[Decision, ...] = ()
        if new:
            result = await self._checker.check_after(snapshot, new, source=request.source)
            snapshot, decided = result.snapshot, result.decisions
        left = iter(decided)
        decisions = (*known, *(None if again else next(left) for again in repeated))
        return MatchedSession(request=request, snapshot=snapshot, decisions=decisions)


def _response_name(id: str) -> str:
    return f"proxy response {id}"


def _whole_conversation(request: ClientRequest, answer: Message) -> Conversation:
    """All that the client has sent and received, as far as it is known here.

    A conversation that continues a response must not pass for one that begins with the request.
    """
    conversation = request.parsed.conversation
    messages = (*conversation.messages, answer)
    if request.parsed.continues is not None:
        before = text_message(Level.SYSTEM, _response_name(request.parsed.continues))
        messages = (before, *messages)
    return replace(conversation, messages=messages)


def _new_session(request: ClientRequest) -> SessionSnapshot:
    id = uuid.uuid4().hex if request.session is None else request.session
    return new_snapshot(request.tenant, id, ())


def _is_repeated(message: Message, snapshot: SessionSnapshot) -> bool:
    """Whether these are instructions that a client sends again with every request."""
    return message.level is Level.SYSTEM and message.text in snapshot.state.system


def _decision_on(message: Message, decision: Decision) -> Decision:
    """A known decision with the output as it was sent, where the stored output is redacted."""
    if message.level is not Level.TOOL or message == decision.case.message:
        return decision
    return decide(replace(decision.case, message=message))


def _can_escalate(policy: Policy) -> bool:
    """Whether any message can have to wait for a person."""
    pairs = (response for each in policy.authorisation.values() for response in each.values())
    calls = {*policy.misaligned.values(), *policy.tools.values(), *pairs}
    return "escalate" in {policy.text, *calls, *policy.outage.values()}
