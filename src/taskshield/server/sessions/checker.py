"""Checks messages of stored sessions: find a snapshot, judge the messages, store the next snapshot.

Every surface checks its messages here, and so gets the same decision for the same conversation.
Decisions are returned only after they are stored: what could not be stored did not happen, and a
decision that a client has is never lost.
"""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial

from taskshield.adapters.stored import documents
from taskshield.adapters.stored.cases import POLICY
from taskshield.core.decisions import Decision
from taskshield.core.errors import StoreConflict
from taskshield.core.judge import Judge
from taskshield.core.messages import Conversation, Message
from taskshield.core.policy import Policy
from taskshield.core.session_parts import document_version
from taskshield.core.store import Store
from taskshield.core.tools import ToolSpec
from taskshield.engine.own_resources.values import NOTHING_KNOWN, OwnResources
from taskshield.server.bounded_cache import KeyedLocks
from taskshield.server.http.errors import RequestError
from taskshield.server.sessions.audit_records import TextRedaction
from taskshield.server.sessions.finder import SnapshotFinder
from taskshield.server.sessions.judgement import (
    CheckResult,
    Judgement,
    JudgingRules,
    Observer,
    judge_messages,
)
from taskshield.server.sessions.resume_keys import ResumeKeys
from taskshield.server.sessions.snapshot_store import CACHE_BYTES, Find, SnapshotStore
from taskshield.server.sessions.snapshots import (
    KnownConversation,
    RequestSource,
    SessionSnapshot,
    SnapshotChange,
    new_snapshot,
)


class _NothingWaits(Exception):
    """No call waits for the approval."""


class SessionChecker:
    """Checks messages of any number of tenants, sessions and surfaces."""

    finder: SnapshotFinder
    """Finds the snapshots that checks start from."""

    def __init__(
        self,
        *,
        judge: Judge,
        policy: Policy,
        store: Store,
        redaction: TextRedaction,
        approval_time: timedelta = timedelta(minutes=10),
        cached: int = 1_000,
        cached_bytes: int = 2 * CACHE_BYTES,
        max_messages: int = 2_000,
        own: OwnResources = NOTHING_KNOWN,
        observe: Observer = lambda surface, checked: None,
    ) -> None:
        """Make a checker.

        Args:
            judge: Judges the messages.
            policy: Maps verdicts to actions.
            store: Where sessions, audit records and approvals are stored.
            redaction: How texts are stored.
            approval_time: How long a person has to approve.
            cached: Sessions that are cached in memory.
            cached_bytes: Bytes of them and of their decisions, roughly.
            max_messages: Messages that one request may have.
            own: What belongs to the guard itself.
            observe: Gets the result of each check.
        """
        self._rules = JudgingRules(
            judge=judge,
            policy=policy,
            redaction=redaction,
            approval_time=approval_time,
            document_version=partial(document_version, store),
            own=own,
        )
        self._max_messages = max_messages
        self._observe = observe
        self._snapshots = SnapshotStore(
            store, redaction, cached=cached, most_bytes=cached_bytes // 2
        )
        self.finder = SnapshotFinder(
            store,
            self._snapshots,
            seed=f"{judge.name} {documents.write_json(POLICY, policy, 'Policy')}",
            texts=redaction.texts,
            cached=cached,
            most_bytes=cached_bytes // 2,
        )
        self._locks = KeyedLocks()

    @property
    def cached_bytes(self) -> Mapping[str, int]:
        """Bytes of what is cached, roughly, by what it is."""
        return {
            "sessions": self._snapshots.cached_bytes,
            "conversations": self.finder.cached_bytes,
        }

    async def create_session(
        self, tenant: str, *, id: str | None = None, tools: Iterable[ToolSpec] = ()
    ) -> SessionSnapshot:
        """Create a session.

        Raises:
            RequestError: A session with this id exists.
        """
        snapshot = new_snapshot(tenant, uuid.uuid4().hex if id is None else id, tools)
        try:
            return await self._snapshots.write(snapshot, SnapshotChange(content=snapshot.content))
        except StoreConflict:
            raise RequestError(409, "conflict", "A session with this id already exists.") from None

    async def check(
        self,
        tenant: str,
        session: str,
        messages: Sequence[Message],
        *,
        source: RequestSource,
        tools: Iterable[ToolSpec] = (),
        start: bool = False,
    ) -> CheckResult:
        """Check the next messages of a session: all of them or, where one fails, none.

        Args:
            tenant: Whose session it is.
            session: Its id.
            messages: In the order of the conversation.
            source: Where the request came from.
            tools: Tools that the session may not have yet.
            start: Whether a session that does not exist starts now.

        Raises:
            RequestError: There is no such session, or there are too many messages.
            ConversationError: A message makes no sense in this conversation.
            StoreError: Nothing was stored, so nothing is decided.
        """
        self._limit(messages)
        find = self.finder.in_session(tenant, session, start=start)
        async with self._locks.of(tenant, session):
            return await self._check(find, messages, source=source, tools=tuple(tools))

    async def check_conversation(
        self, tenant: str, conversation: Conversation, *, source: RequestSource
    ) -> CheckResult:
        """Check a whole conversation; messages that an earlier request had are not judged again.

        The decisions are those of judging everything from the first message on. Raises the errors
        of `check`.
        """
        messages = conversation.messages
        self._limit(messages)
        names = await self.finder.names(conversation)
        async with self._locks.of(tenant, names[-1]):
            known = await self.finder.recall(tenant, names, messages)
            if known is None:
                snapshot = new_snapshot(tenant, uuid.uuid4().hex, conversation.tools)
                known = KnownConversation(snapshot=snapshot, decisions=())
            new = messages[len(known.decisions) :]
            if not new:
                return CheckResult(snapshot=known.snapshot, decisions=known.decisions, new=0)
            # Messages that the judge could not check are checked when the client sends them again.
            resume = ResumeKeys(names=(names[-1],), decisions=known.decisions, unless=_unchecked)
            find = self.finder.after(known.snapshot)
            checked = await self._check(find, new, source=source, resume=resume)
            return replace(checked, decisions=(*known.decisions, *checked.decisions))

    async def check_after(
        self,
        snapshot: SessionSnapshot,
        messages: Sequence[Message],
        *,
        source: RequestSource,
        resume: ResumeKeys | None = None,
    ) -> CheckResult:
        """Check the messages that follow exactly this snapshot.

        For surfaces that answer the client themselves: where another request has added messages to
        the session meanwhile, this one becomes a session of its own. Raises the errors of `check`.

        Args:
            snapshot: The session before the messages.
            messages: In the order of the conversation.
            source: Where the request came from.
            resume: Names for the next snapshot; for surfaces that know them before and need not
                call `SnapshotFinder.remember`.
        """
        self._limit(messages)
        find = self.finder.after(snapshot)
        return await self._check(find, messages, source=source, resume=resume)

    async def apply_approval(self, tenant: str, session: str, approval: str) -> bool:
        """Allow, once, the calls that wait for this approval; False where none wait any more.

        Raises:
            RequestError: There is no such session.
            StoreError: The approval could not be stored.
        """

        async def allow(snapshot: SessionSnapshot) -> SnapshotChange:
            if approval not in snapshot.content.approvable:
                raise _NothingWaits
            return SnapshotChange(content=snapshot.content.after_approval(approval))

        async with self._locks.of(tenant, session):
            try:
                await self._snapshots.update(self.finder.in_session(tenant, session), allow)
            except _NothingWaits:
                return False
        return True

    async def aclose(self) -> None:
        """Wait for writes that have not ended."""
        await self._snapshots.aclose()

    async def _check(
        self,
        find: Find,
        messages: Sequence[Message],
        *,
        source: RequestSource,
        tools: Iterable[ToolSpec] = (),
        resume: ResumeKeys | None = None,
    ) -> CheckResult:
        async def judge(snapshot: SessionSnapshot) -> Judgement:
            return await judge_messages(
                snapshot.with_tools(tools),
                messages,
                rules=self._rules,
                source=source,
                resume=resume,
            )

        snapshot, judgement = await self._snapshots.update(find, judge)
        if resume is not None:
            self.finder.cache(snapshot, (*resume.decisions, *judgement.decisions))
        checked = CheckResult(
            snapshot=snapshot,
            decisions=judgement.decisions,
            new=len(judgement.decisions),
            approvals=judgement.approvals,
            records=judgement.records,
        )
        self._observe(source.surface, checked)
        return checked

    def _limit(self, messages: Sequence[Message]) -> None:
        if len(messages) > self._max_messages:
            raise RequestError(
                413,
                "too_many_messages",
                f"The request has more than {self._max_messages} messages.",
            )


def _unchecked(decision: Decision) -> bool:
    return decision.check == "failed"
