"""Snapshots in the store and in memory: loading the newest one, storing the next one."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import asdict, fields, replace
from datetime import UTC, datetime
from functools import partial
from typing import TypeAlias, TypeVar

from taskshield.core.errors import StoreConflict
from taskshield.core.session_parts import PartStore, SessionHead, document_version
from taskshield.core.store import Store, StoredSession
from taskshield.server.bounded_cache import BoundedCache
from taskshield.server.http.errors import RequestError
from taskshield.server.sessions import head_and_parts, serialization
from taskshield.server.sessions.audit_records import TextRedaction
from taskshield.server.sessions.snapshots import (
    SessionSnapshot,
    SessionSummary,
    SnapshotChange,
    StoredContent,
    StoredParts,
)
from taskshield.server.threads import off_loop

T = TypeVar("T")
C = TypeVar("C", bound=SnapshotChange)

CACHE_BYTES = 96 * 1024 * 1024
"""Bytes of all cached sessions, however few they are."""
_LONGEST = 64 * 1024 * 1024
"""Characters of one session. All of it is read at once."""
_TASKS_LISTED = 3
"""Tasks of a session that a list shows."""
_TRIES = 5
"""How often a change is made again because another request changed the session first."""

Find: TypeAlias = Callable[[SessionSnapshot | None], Awaitable[SessionSnapshot]]
"""Finds the snapshot to start from. It gets None, or the snapshot that is not the newest any more
because another request changed the session."""


class SnapshotStore:
    """Reads and writes snapshots. What it wrote is cached; what it did not write did not happen."""

    def __init__(
        self, store: Store, redaction: TextRedaction, *, cached: int, most_bytes: int = CACHE_BYTES
    ) -> None:
        self._store = store
        self._redaction = redaction
        self._cache: BoundedCache[tuple[str, str], SessionSnapshot] = BoundedCache(
            cached, weigh=lambda snapshot: snapshot.memory, most_weight=most_bytes
        )
        self._writes: set[asyncio.Task[SessionSnapshot]] = set()

    async def load(self, tenant: str, id: str) -> SessionSnapshot | None:
        """The newest snapshot of a session; it is parsed only where it is not cached.

        Raises:
            RequestError: Its texts are not stored, and it is not cached.
            StoreConflict: Other requests changed it each time that it was read.
        """
        for _ in range(_TRIES):
            stored = await self._store.session(tenant, id)
            if stored is None:
                return None
            cached = self._cache.get((tenant, id))
            if cached is not None and _is_same(cached, stored):
                return cached
            with suppress(StoreConflict):  # another request changed it before its parts were read
                return await self._read(stored)
        raise StoreConflict("The session changed five times while it was read. Try again.")

    async def update(
        self, find: Find, change: Callable[[SessionSnapshot], Awaitable[C]]
    ) -> tuple[SessionSnapshot, C]:
        """Find a snapshot, change it and store the next one.

        Starts over where another request changed the session meanwhile.

        Returns:
            The snapshot that was stored, and the change.

        Raises:
            RequestError: The session has become too large.
            StoreConflict: Other requests changed it every time.
        """
        outdated = None
        for _ in range(_TRIES):
            snapshot = await find(outdated)
            changed = await change(snapshot)
            try:
                return await self.write(snapshot, changed), changed
            except StoreConflict:
                outdated = snapshot
        raise StoreConflict("The session changed five times during this request. Try again.")

    async def write(self, snapshot: SessionSnapshot, change: SnapshotChange) -> SessionSnapshot:
        """Store the snapshot that comes after this one.

        A request that is cancelled meanwhile does not stop the write.

        Raises:
            RequestError: The session has become too large.
            StoreConflict: Another request has stored that version.
        """
        task = asyncio.create_task(self._write(snapshot, change))
        self._writes.add(task)
        task.add_done_callback(self._written)
        return await asyncio.shield(task)

    @property
    def cached_bytes(self) -> int:
        """Bytes of the cached snapshots, roughly."""
        return self._cache.weight

    async def aclose(self) -> None:
        """Wait for writes that have not ended."""
        await asyncio.gather(*self._writes, return_exceptions=True)

    async def _read(self, stored: StoredSession) -> SessionSnapshot:
        if stored.state is None:
            raise RequestError(
                410,
                "gone",
                "The session cannot be resumed: this server does not store texts.",
            )
        known: StoredParts | None = None
        size = len(stored.state)
        if isinstance(self._store, PartStore) and head_and_parts.is_head(stored.state):
            parts = await self._store.parts(stored.tenant, stored.id, stored.version)
            join = partial(head_and_parts.join, parts=parts)
            content, known = serialization.parse_stored(join, stored.state)
            size += sum(len(part.text) for part in parts)
        else:
            content = serialization.parse_stored(serialization.read, stored.state)
        return SessionSnapshot(
            tenant=stored.tenant,
            version=stored.version,
            created_at=stored.created_at,
            content=content,
            summary=_summary(stored),
            stored=known,
            size=size,
        )

    async def _write(self, snapshot: SessionSnapshot, change: SnapshotChange) -> SessionSnapshot:
        if document_version(self._store) == 1:
            serialize = partial(self._as_text, snapshot, change)
        else:
            serialize = partial(self._as_head_and_parts, snapshot, change)
        new = sum(len(record.case or "") for record in change.records)
        written, row = await off_loop(new, serialize)
        if written.size > _LONGEST:
            raise RequestError(
                413, "session_too_large", "The session has become too large. Start a new one."
            )
        await self._store.commit(
            row,
            change.records,
            tuple(change.approvals.values()),
            written.content.names if self._redaction.texts else (),
        )
        self._cache.put((written.tenant, written.id), written)
        return written

    def _as_text(
        self, snapshot: SessionSnapshot, change: SnapshotChange
    ) -> tuple[SessionSnapshot, StoredSession]:
        serialized = serialization.write(change.content, snapshot.parts, self._redaction.state)
        written = replace(
            _next(snapshot, change, serialized.content),
            parts=serialized.parts,
            stored=None,
            size=len(serialized.text),
        )
        return written, self._row(written, serialized.text)

    def _as_head_and_parts(
        self, snapshot: SessionSnapshot, change: SnapshotChange
    ) -> tuple[SessionSnapshot, StoredSession]:
        whole = snapshot.stored is None or snapshot.version == 0
        divided = head_and_parts.divide(
            change.content,
            StoredParts() if snapshot.stored is None else snapshot.stored,
            whole=whole,
            redacted=self._redaction.state,
            version=document_version(self._store),
        )
        written = replace(
            _next(snapshot, change, divided.content),
            parts={},
            stored=divided.stored,
            size=divided.size,
        )
        row = self._row(written, divided.head)
        if not self._redaction.texts:
            return written, row
        own = {each.name: getattr(row, each.name) for each in fields(StoredSession)}
        return written, SessionHead(
            **own, parts=divided.parts, removed=divided.removed, whole=whole
        )

    def _row(self, written: SessionSnapshot, state: str) -> StoredSession:
        return StoredSession(
            tenant=written.tenant,
            id=written.id,
            version=written.version,
            state=state if self._redaction.texts else None,
            created_at=written.created_at,
            updated_at=datetime.now(UTC),
            tasks=self._task_lines(written),
            messages=written.state.messages,
            **asdict(written.summary),
        )

    def _task_lines(self, snapshot: SessionSnapshot) -> tuple[str, ...]:
        """The beginnings of a session's first tasks, as far as they may be stored."""
        first = snapshot.state.tasks.tasks[:_TASKS_LISTED]
        return tuple(line for line in (self._redaction.line(task.text) for task in first) if line)

    def _written(self, task: asyncio.Task[SessionSnapshot]) -> None:
        self._writes.discard(task)
        if not task.cancelled():
            task.exception()  # Read, so that asyncio does not log it: the request may be cancelled.


def _next(
    snapshot: SessionSnapshot, change: SnapshotChange, content: StoredContent
) -> SessionSnapshot:
    """The next snapshot. Its content is redacted as in the store: all replicas decide alike."""
    return replace(
        snapshot,
        version=snapshot.version + 1,
        content=content,
        summary=snapshot.summary.after(change.records),
    )


def _summary(stored: StoredSession) -> SessionSummary:
    return SessionSummary(
        **{each.name: getattr(stored, each.name) for each in fields(SessionSummary)}
    )


def _is_same(cached: SessionSnapshot, stored: StoredSession) -> bool:
    """Whether the cached snapshot is the stored one, and not of a deleted session of that id."""
    return (cached.version, cached.created_at) == (stored.version, stored.created_at)
