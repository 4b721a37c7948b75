"""Remembers, for each session of Agent Hooks, the messages and calls that were judged.

A memory is stored as a session of another tenant, whose name no key can have. So it is pruned like
sessions, but never listed among the sessions of its own tenant.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from starlette.requests import Request

from taskshield.adapters.agent_hooks.steps import Memory, SeenCall
from taskshield.adapters.agent_hooks.verdicts import Verdict
from taskshield.adapters.stored.agent_hooks import MEMORY
from taskshield.core.errors import StoreConflict
from taskshield.core.session_parts import document_version
from taskshield.core.store import Store, StoredSession
from taskshield.server.bounded_cache import BoundedCache
from taskshield.server.services import Services, services
from taskshield.server.sessions.serialization import parse_stored
from taskshield.stores.secrets.redaction import redacted

TENANT_SUFFIX = "\x1fagent-hooks"
_TRIES = 5
_CACHE_BYTES = 32 * 1024 * 1024
"""Bytes of all cached memories, roughly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _StoredMemory:
    version: int
    """0 where it is not stored yet."""
    memory: Memory


class SessionMemories:
    """Memories of all sessions. Where texts are not stored, they stay in this process."""

    def __init__(self, store: Store, *, texts: bool, redact: bool, cached: int) -> None:
        self._store = store
        self._texts = texts
        self._redact = redact
        self._cache: BoundedCache[tuple[str, str], _StoredMemory] = BoundedCache(
            cached, weigh=_bytes, most_weight=_CACHE_BYTES
        )

    async def get(self, tenant: str, session: str) -> Memory:
        """The memory of a session."""
        return (await self._load(tenant, session)).memory

    async def change(self, tenant: str, session: str, change: Callable[[Memory], Memory]) -> Memory:
        """Change a memory and store it. Starts over where another event changed it meanwhile.

        Raises:
            StoreConflict: Other events changed it every time.
        """
        for _ in range(_TRIES):
            stored = await self._load(tenant, session)
            changed = change(stored.memory)
            if changed == stored.memory:
                return changed
            if self._redact:
                changed = _without_secrets(changed)
            try:
                return await self._write(tenant, session, stored.version + 1, changed)
            except StoreConflict:
                continue
        raise StoreConflict("The session changed five times during this request. Try again.")

    async def _load(self, tenant: str, session: str) -> _StoredMemory:
        stored = await self._store.session(tenant + TENANT_SUFFIX, session)
        if stored is None:
            return _StoredMemory(version=0, memory=Memory())
        cached = self._cache.get((tenant, session))
        if cached is not None and cached.version == stored.version:
            return cached
        if stored.state is None:
            return _StoredMemory(version=stored.version, memory=Memory())
        memory = parse_stored(MEMORY.read, stored.state)
        return _StoredMemory(version=stored.version, memory=memory)

    async def _write(self, tenant: str, session: str, version: int, memory: Memory) -> Memory:
        now = datetime.now(UTC)
        await self._store.commit(
            StoredSession(
                tenant=tenant + TENANT_SUFFIX,
                id=session,
                version=version,
                state=MEMORY.write(memory, document_version(self._store)) if self._texts else None,
                created_at=now,
                updated_at=now,
            ),
            (),
        )
        self._cache.put((tenant, session), _StoredMemory(version=version, memory=memory))
        return memory


def session_memories(request: Request) -> SessionMemories:
    """The memories of the server that received this request."""
    found: SessionMemories | None = getattr(request.app.state, "agent_hooks_memories", None)
    if found is None:
        found = request.app.state.agent_hooks_memories = _of(services(request))
    return found


def _of(server: Services) -> SessionMemories:
    settings = server.settings.server
    return SessionMemories(
        server.store,
        texts=settings.store_texts,
        redact=settings.redact_secrets,
        cached=settings.live_sessions,
    )


def _bytes(stored: _StoredMemory) -> int:
    verdicts = (
        stored.memory.said_verdict,
        *(call.verdict for call in stored.memory.calls.values()),
    )
    return sum(_verdict_bytes(verdict) for verdict in verdicts)


def _verdict_bytes(verdict: Verdict) -> int:
    texts = (verdict.message or "", *(warning.message for warning in verdict.warnings))
    return 1_000 + 2 * sum(map(len, texts))


def _without_secrets(memory: Memory) -> Memory:
    """Redact secrets: verdicts contain feedback, and feedback quotes the conversation."""
    calls = {id: _clean_call(call) for id, call in memory.calls.items()}
    return replace(memory, calls=calls, said_verdict=_clean(memory.said_verdict))


def _clean_call(call: SeenCall) -> SeenCall:
    return replace(call, verdict=_clean(call.verdict))


def _clean(verdict: Verdict) -> Verdict:
    warnings = tuple(
        replace(warning, message=redacted(warning.message)) for warning in verdict.warnings
    )
    message = None if verdict.message is None else redacted(verdict.message)
    return replace(verdict, message=message, warnings=warnings)
