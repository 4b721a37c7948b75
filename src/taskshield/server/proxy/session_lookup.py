"""Which conversation a request belongs to, and what of it was judged before.

A client names its session in a header, goes on from an answer that the provider keeps, or just
sends the whole conversation again: then it is found by what was said.
"""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from taskshield.adapters.proxy.exchange import Place, Request
from taskshield.core.decisions import Decision
from taskshield.core.levels import Level
from taskshield.core.messages import Conversation, Message, text_message
from taskshield.core.policy import Policy
from taskshield.core.store import Store
from taskshield.core.tools import ToolSpec
from taskshield.engine.decide import decide
from taskshield.engine.state import SessionState
from taskshield.server.proxy.response_check import CheckedChoice
from taskshield.server.sessions.checker import SessionChecker
from taskshield.server.sessions.resume_keys import ResumeKeys, conversation_names
from taskshield.server.sessions.snapshots import (
    RequestSource,
    SessionSnapshot,
    StoredContent,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyRequest:
    """Who asks for what, and in which session."""

    tenant: str
    asker: RequestSource
    request: Request
    session: str | None = None
    """As the client's header names it."""
    thread: str | None = None
    """The provider's conversation that the answer is added to."""

    @property
    def messages(self) -> tuple[Message, ...]:
        """What the client sent."""
        return self.request.conversation.messages

    def names(self, *more: Message) -> list[str]:
        """Names, in its own session, of all beginnings of what was said, the empty one first."""
        seed = f"proxy {self.session} {self.request.continues}"
        return conversation_names(seed, Conversation(messages=(*self.messages, *more)))


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchedSession:
    """A request whose messages are judged."""

    asking: ProxyRequest
    point: SessionSnapshot
    """Where its session is now."""
    decisions: tuple[Decision | None, ...]
    """One for each message of the request; None for instructions that the session knows."""

    @property
    def known(self) -> tuple[Decision, ...]:
        """The decisions that there are."""
        return tuple(decision for decision in self.decisions if decision is not None)

    def texts(self) -> Mapping[Place, str]:
        """What the model gets to read in place of tools' outputs, where that is not the same."""
        said = zip(self.asking.messages, self.asking.request.places, self.decisions, strict=True)
        return {
            place: decision.content
            for message, place, decision in said
            if place is not None and decision is not None and decision.content != message.text
        }


class SessionLookup:
    """Finds sessions, and lets them be found again."""

    def __init__(self, guard: SessionChecker, store: Store, policy: Policy) -> None:
        self._guard = guard
        self._store = store
        self._people = _asks_people(policy)

    async def open(self, asking: ProxyRequest) -> MatchedSession:
        """Judge what is new in a request.

        Raises:
            Refused: There are too many messages.
            ConversationError: A message makes no sense in this conversation.
            StoreError: Nothing was written down, and nothing decided.
        """
        held = await self._held(asking) if self._people else None
        if held is not None:
            return held
        if asking.request.continues is not None:
            return await self._gone_on(asking, await self._continued(asking))
        if asking.session is not None:
            return await self._in_session(asking)
        checked = await self._guard.check_conversation(
            asking.tenant, asking.request.conversation, source=asking.asker
        )
        return MatchedSession(asking=asking, point=checked.snapshot, decisions=checked.decisions)

    async def answered(
        self,
        opened: MatchedSession,
        choices: Sequence[CheckedChoice],
        seen: Sequence[Message],
        id: str | None,
    ) -> None:
        """Let the client go on from an answer.

        Args:
            opened: What was asked.
            choices: What was answered.
            seen: The same as the client sees it.
            id: Of the answer.
        """
        for choice, message in zip(choices, seen, strict=True):
            names = self._names(opened.asking, message, id, waits=choice.verdict == "escalate")
            await self._guard.finder.remember(choice.point, names, (*opened.known, choice.decision))

    def naming(self, opened: MatchedSession, answer: Message, id: str | None) -> ResumeKeys:
        """How the client goes on from an answer that it gets as it is."""
        return ResumeKeys(
            names=self._names(opened.asking, answer, id, waits=False),
            decisions=opened.known,
            unless=lambda decision: not decision.allowed,
        )

    def _names(
        self, asking: ProxyRequest, answer: Message, id: str | None, *, waits: bool
    ) -> tuple[str, ...]:
        """Under which names a client may ask for what follows an answer."""
        names = [self._guard.finder.name_of(_whole(asking, answer))]
        if asking.session is not None:
            names.append(asking.names(answer)[-1])
        if asking.session is not None or waits:
            names.append(asking.names()[-1])
        kept = (each for each in (asking.thread, id) if each is not None)
        return (*names, *map(_of_response, kept))

    async def knows(self, tenant: str, response: str) -> bool:
        """Whether an answer that the provider keeps went through here and was let through."""
        return await self._guard.finder.named(tenant, _of_response(response)) is not None

    async def _held(self, asking: ProxyRequest) -> MatchedSession | None:
        """The same request as one whose answer waits for a person.

        The session goes on after that answer, so that an approval of it counts.
        """
        found = await self._guard.finder.named(asking.tenant, asking.names()[-1])
        if found is None:
            return None
        heard = [message.level is not Level.SYSTEM for message in asking.messages]
        known = found.decisions[:-1]
        if len(known) == len(heard):
            heard = [True] * len(heard)
        elif len(known) != sum(heard):
            return None
        left = iter(known)
        return MatchedSession(
            asking=asking,
            point=found.snapshot,
            decisions=tuple(
                _about(next(left), message) if judged else None
                for message, judged in zip(asking.messages, heard, strict=True)
            ),
        )

    async def _in_session(self, asking: ProxyRequest) -> MatchedSession:
        """The session that the client names, as far as the conversation goes on from it.

        Otherwise it is judged from its beginning, and where the name is taken, as another session.
        """
        names, messages = asking.names(), asking.messages
        spoken = [number for number, each in enumerate(messages) if each.level is Level.ASSISTANT]
        for length in (len(messages), spoken[-1] + 1 if spoken else 0):
            found = await self._guard.finder.named(asking.tenant, names[length])
            if found is not None:
                known = zip(found.decisions, messages[:length], strict=False)
                decisions = [_about(decision, message) for decision, message in known]
                return await self._gone_on(asking, found.snapshot, decisions)
        return await self._gone_on(asking, _fresh(asking))

    async def _continued(self, asking: ProxyRequest) -> SessionSnapshot:
        """Where to go on from an answer or a conversation that the provider keeps."""
        name = _of_response(str(asking.request.continues))
        found = await self._guard.finder.named(asking.tenant, name)
        if found is not None and asking.thread is None:
            return found.snapshot
        # A conversation goes on wherever somebody adds to it. And where the session of an answer
        # has moved on, the user's tasks are in it all the same.
        session = (await self._store.named(asking.tenant, [name])).get(name)
        if session is not None:
            return await self._guard.finder.newest(asking.tenant, session)
        return _fresh(asking) if found is None else found.snapshot

    async def _gone_on(
        self, asking: ProxyRequest, point: SessionSnapshot, known: Sequence[Decision] = ()
    ) -> MatchedSession:
        new = asking.messages[len(known) :]
        again = asking.request.continues is not None
        heard = [again and _is_known(message, point) for message in new]
        asked = [message for message, old in zip(new, heard, strict=True) if not old]
        point = _declared(point, asking.request.conversation.tools)
        decided: tuple[Decision, ...] = ()
        if asked:
            checked = await self._guard.check_after(point, asked, source=asking.asker)
            point, decided = checked.snapshot, checked.decisions
        left = iter(decided)
        decisions = (*known, *(None if old else next(left) for old in heard))
        return MatchedSession(asking=asking, point=point, decisions=decisions)


def _of_response(id: str) -> str:
    return f"proxy response {id}"


def _whole(asking: ProxyRequest, answer: Message) -> Conversation:
    """All that the client has sent and been given, as far as it is known here.

    What goes on from an answer that is not in the request must not pass for a whole conversation.
    """
    conversation = asking.request.conversation
    messages = (*conversation.messages, answer)
    if asking.request.continues is not None:
        before = text_message(Level.SYSTEM, _of_response(asking.request.continues))
        messages = (before, *messages)
    return replace(conversation, messages=messages)


def _fresh(asking: ProxyRequest) -> SessionSnapshot:
    """A session that has not begun."""
    id = uuid.uuid4().hex if asking.session is None else asking.session
    content = StoredContent(state=SessionState(id=id))
    return SessionSnapshot(
        tenant=asking.tenant, version=0, created_at=datetime.now(UTC), content=content
    )


def _declared(point: SessionSnapshot, tools: Iterable[ToolSpec]) -> SessionSnapshot:
    """The point with tools that its session may not know yet."""
    new = {spec.name: spec for spec in tools if point.state.tools.get(spec.name) != spec}
    if not new:
        return point
    state = replace(point.state, tools={**point.state.tools, **new})
    return replace(point, content=replace(point.content, state=state))


def _is_known(message: Message, point: SessionSnapshot) -> bool:
    """Whether these are instructions that are sent again with every request."""
    return message.level is Level.SYSTEM and message.text in point.state.system


def _about(decision: Decision, message: Message) -> Decision:
    """The decision with an output as it was sent, where what was stored of it is redacted."""
    if message.level is not Level.TOOL or message == decision.case.message:
        return decision
    return decide(replace(decision.case, message=message))


def _asks_people(policy: Policy) -> bool:
    """Whether anything is ever held back for a person."""
    calls = {*policy.misaligned.values(), *policy.tools.values()}
    return "escalate" in {policy.text, *calls, *policy.outage.values()}
