"""Sessions in the store and at hand: loading a point, writing the next one, finding it by name."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields, replace
from datetime import UTC, datetime
from functools import partial
from typing import TypeVar

from taskshield.adapters import stored_values
from taskshield.core.decisions import Case, Decision
from taskshield.core.errors import StoreError, WireFormatError
from taskshield.core.levels import Level
from taskshield.core.messages import Message
from taskshield.core.store import Approval, AuditRecord, Store, StoredSession
from taskshield.engine.decide import decide
from taskshield.server.bounded_cache import BoundedCache
from taskshield.server.http.errors import RequestError
from taskshield.server.sessions import serialization
from taskshield.server.sessions.audit_records import TextRedaction
from taskshield.server.sessions.snapshots import (
    KnownConversation,
    SessionSnapshot,
    SessionSummary,
    StoredContent,
)

T = TypeVar("T")

_LOOKED_UP = 32
"""Beginnings of a conversation that are looked for in the store, the longest first."""
_LONGEST = 64 * 1024 * 1024
"""Characters of one session. All of it is read and written at once."""
_TASKS_LISTED = 3
"""Tasks of a session that a list shows."""
_AT_HAND = 64 * 1024 * 1024
"""Characters of all sessions at hand, however few they are."""


class SessionStore:
    """Reads and writes points. What was written is at hand; what was not has not happened."""

    def __init__(self, store: Store, writing: TextRedaction, *, live: int) -> None:
        self._store = store
        self._writing = writing
        self._live: BoundedCache[tuple[str, str], SessionSnapshot] = BoundedCache(
            live, weigh=lambda point: point.size, together=_AT_HAND
        )
        self._named: BoundedCache[tuple[str, str], KnownConversation] = BoundedCache(
            live, weigh=lambda recalled: recalled.size, together=_AT_HAND
        )
        self._writes: set[asyncio.Task[SessionSnapshot]] = set()

    async def load(self, tenant: str, id: str) -> SessionSnapshot | None:
        """A session at its newest version; parsed only where this process has not just used it.

        Raises:
            Refused: Its texts are not stored, and this process does not know it.
        """
        stored = await self._store.session(tenant, id)
        if stored is None:
            return None
        live = self._live.get((tenant, id))
        if live is not None and _same(live, stored):
            return live
        if stored.state is None:
            raise RequestError(410, "gone", "the session is forgotten: texts are not stored here")
        return SessionSnapshot(
            tenant=tenant,
            version=stored.version,
            created_at=stored.created_at,
            kept=_read(serialization.read, stored.state),
            overview=_overview(stored),
            size=len(stored.state),
        )

    async def write(
        self,
        point: SessionSnapshot,
        kept: StoredContent,
        records: Sequence[AuditRecord] = (),
        approvals: Sequence[Approval] = (),
    ) -> SessionSnapshot:
        """Write down where a session went from this point.

        A request that is given up while this happens does not stop it half-way.

        Raises:
            Refused: The session has become too large.
            StoreConflict: Somebody else has gone on from this point.
        """
        task = asyncio.create_task(self._write(point, kept, records, approvals))
        self._writes.add(task)
        task.add_done_callback(self._written)
        return await asyncio.shield(task)

    def name(self, point: SessionSnapshot, decisions: tuple[Decision, ...]) -> None:
        """Have a point at hand by the names that it has."""
        for name in point.kept.names:
            self._named.put(
                (point.tenant, name), KnownConversation(point=point, decisions=decisions)
            )

    async def recall(
        self, tenant: str, names: Sequence[str], messages: Sequence[Message]
    ) -> KnownConversation | None:
        """The longest beginning of a conversation that is known.

        Args:
            tenant: Whose conversation it is.
            names: Of all its beginnings, the empty one first.
            messages: What was said in it.
        """
        lengths = range(len(messages), 0, -1)
        at_hand = (self._named.get((tenant, names[length])) for length in lengths)
        best = next((found for found in at_hand if found is not None), None)
        known = () if best is None else best.decisions
        longer = lengths[: min(len(messages) - len(known), _LOOKED_UP)]
        stored = await self._sessions(tenant, [names[length] for length in longer])
        for length in longer:
            found = await self._stored(tenant, names[length], stored, known, messages[:length])
            if found is not None:
                return found
        return best

    async def named(self, tenant: str, name: str) -> KnownConversation | None:
        """The point with this name; None where its session has moved on from there."""
        at_hand = self._named.get((tenant, name))
        if at_hand is not None:
            return at_hand
        return await self._stored(tenant, name, await self._sessions(tenant, [name]))

    async def aclose(self) -> None:
        """Wait for what is still being written."""
        await asyncio.gather(*self._writes, return_exceptions=True)

    async def _write(
        self,
        point: SessionSnapshot,
        kept: StoredContent,
        records: Sequence[AuditRecord],
        approvals: Sequence[Approval],
    ) -> SessionSnapshot:
        copy = serialization.write(kept, point.pieces, self._writing.state)
        if len(copy.text) > _LONGEST:
            raise RequestError(413, "session_too_large", "the session has become too large")
        written = replace(
            point,
            version=point.version + 1,
            # What is not stored is not remembered here either: all replicas judge alike.
            kept=copy.kept,
            overview=point.overview.after(records),
            pieces=copy.pieces,
            size=len(copy.text),
        )
        await self._store.commit(
            StoredSession(
                tenant=written.tenant,
                id=written.id,
                version=written.version,
                state=copy.text if self._writing.texts else None,
                created_at=written.created_at,
                updated_at=datetime.now(UTC),
                tasks=self._tasks(written),
                messages=written.state.messages,
                **asdict(written.overview),
            ),
            records,
            approvals,
            written.kept.names if self._writing.texts else (),
        )
        self._live.put((written.tenant, written.id), written)
        return written

    def _tasks(self, point: SessionSnapshot) -> tuple[str, ...]:
        """The beginnings of a session's first tasks, as far as they may be stored."""
        first = point.state.tasks.tasks[:_TASKS_LISTED]
        return tuple(line for line in (self._writing.line(task.text) for task in first) if line)

    def _written(self, task: asyncio.Task[SessionSnapshot]) -> None:
        self._writes.discard(task)
        if not task.cancelled():
            task.exception()  # whoever gave up waiting does not want to know

    async def _sessions(self, tenant: str, names: Sequence[str]) -> Mapping[str, str]:
        """The sessions that are stored under names, by name."""
        return await self._store.named(tenant, names) if names and self._writing.texts else {}

    async def _stored(
        self,
        tenant: str,
        name: str,
        sessions: Mapping[str, str],
        known: Sequence[Decision] = (),
        messages: Sequence[Message] = (),
    ) -> KnownConversation | None:
        id = sessions.get(name)
        point = None if id is None else await self.load(tenant, id)
        if point is None or name not in point.kept.names:
            return None
        decisions = await self._decisions(point, {decision.id: decision for decision in known})
        if decisions is None:
            return None
        if messages:
            decisions = tuple(map(_about, decisions, messages))
        recalled = KnownConversation(point=point, decisions=decisions)
        self._named.put((tenant, name), recalled)
        return recalled

    async def _decisions(
        self, point: SessionSnapshot, known: Mapping[str, Decision]
    ) -> tuple[Decision, ...] | None:
        """The decisions that led to a point, made again from their cases; None if one is gone."""
        decisions = []
        for id in point.kept.line:
            decision = known.get(id)
            if decision is None:
                record = await self._store.decision(point.tenant, id)
                if record is None or record.case is None:
                    return None
                decision = decide(_read(partial(stored_values.load, Case), record.case))
            decisions.append(decision)
        return tuple(decisions)


def _overview(stored: StoredSession) -> SessionSummary:
    return SessionSummary(
        **{each.name: getattr(stored, each.name) for each in fields(SessionSummary)}
    )


def _same(live: SessionSnapshot, stored: StoredSession) -> bool:
    """Whether this is the session as it is stored, and not one of its name before it."""
    return (live.version, live.created_at) == (stored.version, stored.created_at)


def _read(read: Callable[[str], T], text: str) -> T:
    """What the store gave, which is nobody's fault but its own where it cannot be read."""
    try:
        return read(text)
    except WireFormatError as error:
        raise StoreError(f"what is stored cannot be read: {error}") from None


def _about(decision: Decision, message: Message) -> Decision:
    """The decision with the message as it was sent, where what was stored of it is redacted.

    What the agent says may have been changed on its way to the client: there the case knows better.
    """
    if message.level is Level.ASSISTANT or message == decision.case.message:
        return decision
    return decide(replace(decision.case, message=message))
