"""Checks messages in sessions that a store remembers.

Owns the way of a message through the server: load the session, judge, write down the new state, the
decisions and the approvals, and only then answer. States are values: what could not be written down
has not happened, and a decision that was handed out is never lost. Every surface goes through here,
and so gives the same decision for the same conversation.
"""

import uuid
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from taskshield.adapters import stored_values as values_json
from taskshield.api.sessions import AsyncSession
from taskshield.core.decisions import Decision
from taskshield.core.errors import ConversationError, StoreConflict
from taskshield.core.judge import Judge
from taskshield.core.messages import Conversation, Message
from taskshield.core.policy import Policy
from taskshield.core.store import Approval, AuditRecord, Store
from taskshield.core.tools import ToolSpec
from taskshield.engine.state import SessionState
from taskshield.server.bounded_cache import KeyedLocks
from taskshield.server.http.errors import RequestError
from taskshield.server.sessions.audit_records import (
    TextRedaction,
    approval_of,
    audit_record,
    needs_person,
)
from taskshield.server.sessions.session_store import SessionStore
from taskshield.server.sessions.snapshots import (
    KnownConversation,
    RequestSource,
    SessionSnapshot,
    StoredContent,
    approvable_calls,
    conversation_names,
)

_TRIES = 5
"""How often a message is judged anew because another replica wrote to its session meanwhile."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """What became of some messages."""

    point: SessionSnapshot
    """Where that has led their session."""
    decisions: tuple[Decision, ...]
    """One for each message."""
    new: int
    """How many of them, counted from the last, were made now; the others were known."""
    approvals: Mapping[str, Approval] = field(default_factory=dict)
    """What now waits for a person, by the id of the decision."""
    records: tuple[AuditRecord, ...] = ()
    """What was written down of the new decisions."""

    @property
    def session(self) -> str:
        """Id of the session."""
        return self.point.id


Observer = Callable[[str, CheckResult], None]
"""Told of the surface and what was decided there, once it is written down."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumeKeys:
    """How a point is found again."""

    names: tuple[str, ...]
    known: tuple[Decision, ...]
    """On the messages before, one for each that the client sees."""
    unless: Callable[[Decision], bool]
    """Whether a decision means that the point has none of these names."""


class SessionChecker:
    """Judges messages of any number of tenants, sessions and surfaces."""

    def __init__(
        self,
        *,
        judge: Judge,
        policy: Policy,
        store: Store,
        writing: TextRedaction,
        patience: timedelta = timedelta(minutes=10),
        live: int = 1_000,
        max_messages: int = 2_000,
        observe: Observer = lambda surface, checked: None,
    ) -> None:
        """Make a guard.

        Args:
            judge: Who judges.
            policy: What is done about verdicts.
            store: What remembers.
            writing: How texts are stored.
            patience: How long a person has to approve.
            live: Sessions that are kept at hand.
            max_messages: Messages that one request may have.
            observe: Told of every decision.
        """
        self._judge = judge
        self._policy = policy
        self._writing = writing
        self._patience = patience
        self._max_messages = max_messages
        self._observe = observe
        self._ledger = SessionStore(store, writing, live=live)
        self._seed = f"{judge.name} {values_json.dump(policy)}"
        self._locks = KeyedLocks()

    async def begin(
        self, tenant: str, *, id: str | None = None, tools: Iterable[ToolSpec] = ()
    ) -> SessionSnapshot:
        """Begin a session.

        Raises:
            Refused: There is a session with this id.
        """
        point = _new(tenant, uuid.uuid4().hex if id is None else id, tools)
        try:
            return await self._ledger.write(point, point.kept)
        except StoreConflict:
            raise RequestError(409, "conflict", "there is a session with this id already") from None

    async def session(self, tenant: str, id: str) -> SessionSnapshot:
        """A session as it is now.

        Raises:
            Refused: There is none, or its texts are not stored and this process has not seen it.
        """
        return _existing(await self._ledger.load(tenant, id))

    async def check(
        self,
        tenant: str,
        session: str,
        messages: Sequence[Message],
        *,
        asker: RequestSource,
        tools: Iterable[ToolSpec] = (),
        begin: bool = False,
    ) -> CheckResult:
        """Judge the next messages of a session, all of them or, where anything fails, none.

        Args:
            tenant: Whose session it is.
            session: Its id.
            messages: In the order in which they were said.
            asker: Who asks.
            tools: Tools that the session may not know yet.
            begin: Whether a session that does not exist begins now.

        Raises:
            Refused: There is no such session, or there are too many messages.
            ConversationError: A message makes no sense in this conversation.
            StoreError: Nothing was written down, and nothing decided.
        """
        self._bounded(messages)
        given = tuple(tools)

        async def attempt(found: SessionSnapshot | None) -> CheckResult:
            point = _new(tenant, session, ()) if found is None and begin else _existing(found)
            return await self._advance(point, messages, asker=asker, tools=given)

        return await self._retried(tenant, session, attempt)

    async def conversation(
        self, tenant: str, conversation: Conversation, *, asker: RequestSource
    ) -> CheckResult:
        """Judge a whole conversation; what was judged in an earlier request is not judged again.

        The decisions are those of judging everything from the first message on.

        Raises:
            Refused: There are too many messages.
            ConversationError: A message makes no sense in this conversation.
            StoreError: Nothing was written down, and nothing decided.
        """
        messages = conversation.messages
        self._bounded(messages)
        names = conversation_names(self._seed, conversation)
        async with self._locks.of(tenant, names[-1]):
            known = await self._ledger.recall(tenant, names, messages)
            if known is None:
                point = _new(tenant, uuid.uuid4().hex, conversation.tools)
                known = KnownConversation(point=point, decisions=())
            new = messages[len(known.decisions) :]
            if not new:
                return CheckResult(point=known.point, decisions=known.decisions, new=0)
            # What could not be checked is checked when it is asked about again.
            naming = ResumeKeys(names=(names[-1],), known=known.decisions, unless=_unchecked)
            checked = await self._gone_on(known.point, new, asker=asker, naming=naming)
            return replace(checked, decisions=(*known.decisions, *checked.decisions))

    async def go_on(
        self,
        point: SessionSnapshot,
        messages: Sequence[Message],
        *,
        asker: RequestSource,
        naming: ResumeKeys | None = None,
    ) -> CheckResult:
        """Judge the messages that follow at this very point.

        For surfaces that speak to the client themselves: where another request has led the session
        elsewhere meanwhile, this one becomes a session of its own.

        Args:
            point: Where the session is.
            messages: In the order in which they were said.
            asker: Who asks.
            naming: How the point that this leads to is found again; for surfaces that know it
                before, and need not call `remember`.

        Raises:
            Refused: There are too many messages.
            ConversationError: A message makes no sense in this conversation.
            StoreError: Nothing was written down, and nothing decided.
        """
        self._bounded(messages)
        return await self._gone_on(point, messages, asker=asker, naming=naming)

    def name(self, conversation: Conversation) -> str:
        """The name by which a client that sends this conversation finds where it left off."""
        return conversation_names(self._seed, conversation)[-1]

    async def remember(
        self, point: SessionSnapshot, names: Sequence[str], decisions: Sequence[Decision]
    ) -> SessionSnapshot:
        """Let a point be found again, whatever else its session has seen.

        Args:
            point: Where the session is.
            names: Of the conversation as the client sees it, and others, e.g. a response's.
            decisions: On the messages of that conversation, one for each.
        """
        line = tuple(decision.id for decision in decisions)

        async def attempt(point: SessionSnapshot) -> SessionSnapshot:
            kept = replace(point.kept, names=tuple(names), line=line)
            return await self._ledger.write(point, kept)

        written = await self._followed(point, attempt)
        self._ledger.name(written, tuple(decisions))
        return written

    async def named(self, tenant: str, name: str) -> KnownConversation | None:
        """The point with this name; None where its session has moved on from there."""
        return await self._ledger.named(tenant, name)

    async def approve(self, tenant: str, session: str, approval: str) -> bool:
        """Let through, once, what an approval holds back; whether there was still anything."""

        async def attempt(found: SessionSnapshot | None) -> bool:
            point = _existing(found)
            held = dict(point.kept.held)
            if approval not in held:
                return False
            state = replace(point.state, approved=point.state.approved | held.pop(approval))
            await self._ledger.write(point, replace(point.kept, state=state, held=held))
            return True

        return await self._retried(tenant, session, attempt)

    async def aclose(self) -> None:
        """Wait for what is still being written down."""
        await self._ledger.aclose()

    async def _retried(
        self, tenant: str, session: str, attempt: Callable[[SessionSnapshot | None], Awaitable[T]]
    ) -> T:
        """Try from the newest version of a session, again where somebody else was faster."""
        async with self._locks.of(tenant, session):
            for _ in range(_TRIES):
                try:
                    return await attempt(await self._ledger.load(tenant, session))
                except StoreConflict:
                    continue
        raise StoreConflict("others keep writing to this session")

    async def _followed(
        self, point: SessionSnapshot, attempt: Callable[[SessionSnapshot], Awaitable[T]]
    ) -> T:
        """Try from a point, or from where it is found once somebody else was faster."""
        for _ in range(_TRIES):
            try:
                return await attempt(point)
            except StoreConflict:
                point = await self._overtaken(point)
        raise StoreConflict("others keep writing to this conversation")

    async def _overtaken(self, point: SessionSnapshot) -> SessionSnapshot:
        """Where to go on when somebody else has written to the session of this point.

        Where nothing has been said in it since, a person has approved something, or it was given a
        name. Otherwise it has gone another way, and this becomes a session of its own.
        """
        newest = await self._ledger.load(point.tenant, point.id)
        if newest is not None and newest.state.messages == point.state.messages:
            return newest
        return point.forked(uuid.uuid4().hex, datetime.now(UTC))

    async def _gone_on(
        self,
        point: SessionSnapshot,
        messages: Sequence[Message],
        *,
        asker: RequestSource,
        naming: ResumeKeys | None,
    ) -> CheckResult:
        async def attempt(point: SessionSnapshot) -> CheckResult:
            return await self._advance(point, messages, asker=asker, naming=naming)

        return await self._followed(point, attempt)

    async def _advance(
        self,
        point: SessionSnapshot,
        messages: Sequence[Message],
        *,
        asker: RequestSource,
        tools: Iterable[ToolSpec] = (),
        naming: ResumeKeys | None = None,
    ) -> CheckResult:
        """Judge messages at a point and write down where that leads."""
        known = () if naming is None else naming.known
        session = AsyncSession(judge=self._judge, policy=self._policy, state=point.state)
        session.declare(*(spec for spec in tools if point.state.tools.get(spec.name) != spec))
        decisions: list[Decision] = []
        for number, message in enumerate(messages, start=len(known)):
            try:
                decisions.append(await session.add(message))
            except ConversationError as error:
                raise ConversationError(f"message {number}: {error}") from None
        names = () if naming is None or any(map(naming.unless, decisions)) else naming.names
        line = (*known, *decisions) if names else ()
        where, at = point.place, datetime.now(UTC)
        approvals = {
            decision.id: approval_of(decision, where, at, self._patience, self._writing)
            for decision in decisions
            if needs_person(decision) and decision.case.index >= session.state.turn_began
        }
        held = {
            approvals[decision.id].id: approvable_calls(session.state, decision)
            for decision in decisions
            if decision.id in approvals
        }
        spoken = session.state.turn_began != point.state.turn_began
        kept = StoredContent(
            state=session.state,
            names=names,
            line=tuple(decision.id for decision in line),
            held=held if spoken else {**point.kept.held, **held},
        )
        records = [audit_record(each, where, asker, at, self._writing) for each in decisions]
        written = await self._ledger.write(point, kept, records, tuple(approvals.values()))
        self._ledger.name(written, line)
        checked = CheckResult(
            point=written,
            decisions=tuple(decisions),
            new=len(decisions),
            approvals=approvals,
            records=tuple(records),
        )
        self._observe(asker.surface, checked)
        return checked

    def _bounded(self, messages: Sequence[Message]) -> None:
        if len(messages) > self._max_messages:
            raise RequestError(
                413, "too_many_messages", f"more than {self._max_messages} messages in one request"
            )


def _new(tenant: str, id: str, tools: Iterable[ToolSpec]) -> SessionSnapshot:
    state = SessionState(id=id, tools={spec.name: spec for spec in tools})
    return SessionSnapshot(
        tenant=tenant, version=0, created_at=datetime.now(UTC), kept=StoredContent(state=state)
    )


def _unchecked(decision: Decision) -> bool:
    return decision.check == "failed"


def _existing(point: SessionSnapshot | None) -> SessionSnapshot:
    if point is None:
        raise RequestError(404, "not_found", "there is no such session")
    return point
