"""Decisions made again from the cases of their audit records."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from taskshield.core.decisions import Decision
from taskshield.core.levels import Level
from taskshield.core.messages import Message
from taskshield.core.store import Store
from taskshield.engine.decide import decide
from taskshield.server.sessions.audit_records import stored_case
from taskshield.server.sessions.snapshots import SessionSnapshot


async def recorded_decisions(
    store: Store, snapshot: SessionSnapshot, known: Mapping[str, Decision]
) -> tuple[Decision, ...] | None:
    """The decisions that led to a named snapshot; None if the case of one is not stored.

    Args:
        store: Where the audit records are.
        snapshot: The snapshot.
        known: Decisions that need not be read, by id.

    Raises:
        StoreError: A stored case cannot be read.
    """
    decisions = []
    for id in snapshot.content.decision_ids:
        decision = known.get(id)
        if decision is None:
            record = await store.decision(snapshot.tenant, id)
            if record is None or record.case is None:
                return None
            decision = decide(stored_case(record))
        decisions.append(decision)
    return tuple(decisions)


def with_sent_texts(
    decisions: Sequence[Decision], messages: Sequence[Message]
) -> tuple[Decision, ...]:
    """The decisions with the messages as the client sent them, because stored ones are redacted.

    What the agent says may have been changed on its way to the client: there the case is right.
    """
    return tuple(map(_with_sent_text, decisions, messages))


def _with_sent_text(decision: Decision, message: Message) -> Decision:
    if message.level is Level.ASSISTANT or message == decision.case.message:
        return decision
    return decide(replace(decision.case, message=message))
