"""Which snapshot a check starts from, and which messages of a conversation it already knows.

Owns the names by which snapshots are found again. Judges nothing.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from taskshield.core.decisions import Decision
from taskshield.core.messages import Conversation, Message
from taskshield.core.store import Store
from taskshield.server.bounded_cache import BoundedCache
from taskshield.server.http.errors import RequestError
from taskshield.server.sessions.recorded_decisions import (
    recorded_decisions,
    with_sent_texts,
)
from taskshield.server.sessions.resume_keys import conversation_names
from taskshield.server.sessions.snapshot_store import (
    CACHE_BYTES,
    Find,
    SnapshotStore,
)
from taskshield.server.sessions.snapshots import (
    KnownConversation,
    SessionSnapshot,
    SnapshotChange,
    new_snapshot,
    text_length,
)
from taskshield.server.threads import off_loop

_NAMES_READ = 32
"""Beginnings of a conversation that are looked for in the store, the longest first."""


class SnapshotFinder:
    """Finds snapshots by session id, by conversation and by name."""

    def __init__(
        self,
        store: Store,
        snapshots: SnapshotStore,
        *,
        seed: str,
        texts: bool,
        cached: int,
        most_bytes: int = CACHE_BYTES,
    ) -> None:
        """Make a finder.

        Args:
            store: Where names and decisions are stored.
            snapshots: Where snapshots are stored.
            seed: Judge and policy: a conversation that others judged is not found.
            texts: Whether texts are stored; without them names live in memory only.
            cached: Named snapshots that are cached.
            most_bytes: Bytes of them, roughly.
        """
        self._store = store
        self._snapshots = snapshots
        self._seed = seed
        self._texts = texts
        self._cache: BoundedCache[tuple[str, str], KnownConversation] = BoundedCache(
            cached, weigh=lambda known: known.memory, most_weight=most_bytes
        )

    @property
    def cached_bytes(self) -> int:
        """Bytes of the cached conversations, roughly."""
        return self._cache.weight

    async def newest(self, tenant: str, session: str) -> SessionSnapshot:
        """The newest snapshot of a session.

        Raises:
            RequestError: There is no such session, or its texts are not stored or cached.
        """
        return _existing(await self._snapshots.load(tenant, session))

    def in_session(self, tenant: str, session: str, *, start: bool = False) -> Find:
        """Find the newest snapshot of a session each time.

        Args:
            tenant: Whose session it is.
            session: Its id.
            start: Whether a session that does not exist starts now.
        """

        async def find(outdated: SessionSnapshot | None) -> SessionSnapshot:
            found = await self._snapshots.load(tenant, session)
            if found is None and start:
                return new_snapshot(tenant, session)
            return _existing(found)

        return find

    def after(self, snapshot: SessionSnapshot) -> Find:
        """Start from this snapshot. Where its session has more messages by now, fork it."""

        async def find(outdated: SessionSnapshot | None) -> SessionSnapshot:
            return snapshot if outdated is None else await self._successor(outdated)

        return find

    async def names(self, conversation: Conversation) -> list[str]:
        """Names of all beginnings of a conversation, the empty one first."""
        size = sum(map(text_length, conversation.messages))
        return await off_loop(size, partial(conversation_names, self._seed, conversation))

    async def name_of(self, conversation: Conversation) -> str:
        """The name by which a client that sends this conversation finds its session."""
        return (await self.names(conversation))[-1]

    async def recall(
        self, tenant: str, names: Sequence[str], messages: Sequence[Message]
    ) -> KnownConversation | None:
        """The longest beginning of a conversation that is known.

        Args:
            tenant: Whose conversation it is.
            names: Of all its beginnings, the empty one first.
            messages: Its messages.
        """
        lengths = range(len(messages), 0, -1)
        cached = (self._cache.get((tenant, names[length])) for length in lengths)
        best = next((found for found in cached if found is not None), None)
        known = () if best is None else best.decisions
        longer = lengths[: min(len(messages) - len(known), _NAMES_READ)]
        sessions = await self._sessions(tenant, [names[length] for length in longer])
        for length in longer:
            found = await self._stored(tenant, names[length], sessions, known, messages[:length])
            if found is not None:
                return found
        return best

    async def named(self, tenant: str, name: str) -> KnownConversation | None:
        """The snapshot with this name; None where its session has moved on."""
        cached = self._cache.get((tenant, name))
        if cached is not None:
            return cached
        return await self._stored(tenant, name, await self._sessions(tenant, [name]))

    async def remember(
        self, snapshot: SessionSnapshot, names: Sequence[str], decisions: Sequence[Decision]
    ) -> SessionSnapshot:
        """Store names by which a snapshot is found again.

        Args:
            snapshot: What is found.
            names: Of the conversation as the client sees it, and others, e.g. a response's id.
            decisions: On the messages of that conversation, one for each.
        """
        ids = tuple(decision.id for decision in decisions)

        async def with_names(snapshot: SessionSnapshot) -> SnapshotChange:
            content = replace(snapshot.content, names=tuple(names), decision_ids=ids)
            return SnapshotChange(content=content)

        written, _ = await self._snapshots.update(self.after(snapshot), with_names)
        self.cache(written, tuple(decisions))
        return written

    def cache(self, snapshot: SessionSnapshot, decisions: tuple[Decision, ...]) -> None:
        """Keep a snapshot in memory by the names that it has."""
        known = KnownConversation(snapshot=snapshot, decisions=decisions)
        for name in snapshot.content.names:
            self._cache.put((snapshot.tenant, name), known)

    async def _successor(self, outdated: SessionSnapshot) -> SessionSnapshot:
        """The snapshot to continue from where another request has changed the session.

        Without new messages a person has approved something, or it got a name: that is the same
        conversation. Otherwise the conversations differ from here on, and this one becomes a
        session of its own.
        """
        newest = await self._snapshots.load(outdated.tenant, outdated.id)
        if newest is not None and newest.state.messages == outdated.state.messages:
            return newest
        return outdated.fork(uuid.uuid4().hex)

    async def _sessions(self, tenant: str, names: Sequence[str]) -> Mapping[str, str]:
        """The sessions that are stored under names, by name."""
        return await self._store.named(tenant, names) if names and self._texts else {}

    async def _stored(
        self,
        tenant: str,
        name: str,
        sessions: Mapping[str, str],
        known: Sequence[Decision] = (),
        messages: Sequence[Message] = (),
    ) -> KnownConversation | None:
        id = sessions.get(name)
        snapshot = None if id is None else await self._snapshots.load(tenant, id)
        if snapshot is None or name not in snapshot.content.names:
            return None
        decisions = await recorded_decisions(
            self._store, snapshot, {each.id: each for each in known}
        )
        if decisions is None:
            return None
        if messages:
            decisions = with_sent_texts(decisions, messages)
        found = KnownConversation(snapshot=snapshot, decisions=decisions)
        self._cache.put((tenant, name), found)
        return found


def _existing(snapshot: SessionSnapshot | None) -> SessionSnapshot:
    if snapshot is None:
        raise RequestError(404, "not_found", "There is no such session.")
    return snapshot
