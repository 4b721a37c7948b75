"""Judging the messages that follow a snapshot. The judge is the only one that is waited for."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

from taskshield.api.sessions import AsyncSession
from taskshield.core.decisions import Decision
from taskshield.core.errors import ConversationError
from taskshield.core.judge import Judge
from taskshield.core.messages import Message
from taskshield.core.policy import Policy
from taskshield.core.store import Approval, AuditRecord
from taskshield.engine.own_resources.values import NOTHING_KNOWN, OwnResources
from taskshield.server.sessions.audit_records import (
    TextRedaction,
    approval_of,
    audit_record,
    needs_person,
    work_on,
)
from taskshield.server.sessions.resume_keys import ResumeKeys
from taskshield.server.sessions.snapshots import (
    RequestSource,
    SessionSnapshot,
    SnapshotChange,
    StoredContent,
    approvable_calls,
)
from taskshield.server.threads import off_loop


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgingRules:
    """By whom and how messages are judged."""

    judge: Judge
    policy: Policy
    redaction: TextRedaction
    """How texts are stored."""
    approval_time: timedelta
    """How long a person has to approve."""
    document_version: Callable[[], int]
    """The format in which cases are stored."""
    own: OwnResources = NOTHING_KNOWN
    """What belongs to the guard itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement(SnapshotChange):
    """Decisions on some messages, and all that is to be stored about them."""

    decisions: tuple[Decision, ...]
    """One for each message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """The stored result of a check."""

    snapshot: SessionSnapshot
    """The session after the messages."""
    decisions: tuple[Decision, ...]
    """One for each message."""
    new: int
    """How many of them, counted from the last, were made now; the others were known."""
    approvals: Mapping[str, Approval] = field(default_factory=dict)
    """What now waits for a person, by the id of the decision."""
    records: tuple[AuditRecord, ...] = ()
    """The audit records of the new decisions."""

    @property
    def session(self) -> str:
        """Id of the session."""
        return self.snapshot.id


Observer: TypeAlias = Callable[[str, CheckResult], None]
"""Gets the surface and the result of each check, once it is stored."""


async def judge_messages(
    snapshot: SessionSnapshot,
    messages: Sequence[Message],
    *,
    rules: JudgingRules,
    source: RequestSource,
    resume: ResumeKeys | None = None,
) -> Judgement:
    """Judge the messages that follow a snapshot.

    Args:
        snapshot: The session before them.
        messages: In the order of the conversation.
        rules: By whom and how they are judged.
        source: Where the request came from.
        resume: Names for the snapshot that this leads to.

    Raises:
        ConversationError: A message makes no sense in this conversation.
    """
    known = () if resume is None else resume.decisions
    session = AsyncSession(
        judge=rules.judge, policy=rules.policy, state=snapshot.state, own=rules.own
    )
    decisions: list[Decision] = []
    for number, message in enumerate(messages, start=len(known)):
        try:
            decisions.append(await session.add(message))
            await asyncio.sleep(0)  # many messages that no judge checks must not hold others up
        except ConversationError as error:
            raise ConversationError(f"message {number}: {error}") from None
    version = rules.document_version()
    state, key, at = session.state, snapshot.key, datetime.now(UTC)
    waiting = [
        each for each in decisions if needs_person(each) and each.case.index >= state.turn_began
    ]
    approvals = {
        each.id: approval_of(each, key, at, rules.approval_time, rules.redaction)
        for each in waiting
    }
    approvable = {approvals[each.id].id: approvable_calls(state, each) for each in waiting}
    same_turn = state.turn_began == snapshot.state.turn_began
    names = () if resume is None or any(map(resume.unless, decisions)) else resume.names

    def records() -> tuple[AuditRecord, ...]:
        return tuple(
            audit_record(each, key, source, at, rules.redaction, version) for each in decisions
        )

    return Judgement(
        decisions=tuple(decisions),
        content=StoredContent(
            state=state,
            names=names,
            decision_ids=tuple(each.id for each in (*known, *decisions)) if names else (),
            approvable={**snapshot.content.approvable, **approvable} if same_turn else approvable,
        ),
        records=await off_loop(sum(map(work_on, decisions)), records),
        approvals=approvals,
    )
