"""What was judged before in sessions of Agent Hooks, kept in the store beside the sessions.

A memory is written as a session of a tenant that no key can have, so that it never shows among the
sessions of the tenant whose it is, whatever ids those have, and is pruned like them.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from starlette.requests import Request

from taskshield.adapters import stored_values
from taskshield.adapters.agent_hooks.steps import Memory, SeenCall
from taskshield.adapters.agent_hooks.verdicts import Verdict
from taskshield.core.errors import StoreConflict, StoreError, WireFormatError
from taskshield.core.store import Store, StoredSession
from taskshield.server.bounded_cache import BoundedCache
from taskshield.server.services import Services, services
from taskshield.stores.secrets.redaction import redacted

_BESIDE = "\x1fagent-hooks"
_TRIES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    version: int
    """0 where nothing is stored yet."""
    memory: Memory


class Memories:
    """Memories of all sessions. Where texts are not to be stored, they live in this process."""

    def __init__(self, store: Store, *, texts: bool, redact: bool, live: int) -> None:
        self._store = store
        self._texts = texts
        self._redact = redact
        self._live: BoundedCache[tuple[str, str], _Kept] = BoundedCache(live)

    async def get(self, tenant: str, session: str) -> Memory:
        """What is remembered of a session."""
        return (await self._load(tenant, session)).memory

    async def change(self, tenant: str, session: str, change: Callable[[Memory], Memory]) -> Memory:
        """Write down what a memory becomes; made anew where another event was faster.

        Raises:
            StoreConflict: Others keep writing to it.
        """
        for _ in range(_TRIES):
            kept = await self._load(tenant, session)
            changed = change(kept.memory)
            if changed == kept.memory:
                return changed
            if self._redact:
                changed = _without_secrets(changed)
            try:
                return await self._write(tenant, session, kept.version + 1, changed)
            except StoreConflict:
                continue
        raise StoreConflict("others keep writing to this session")

    async def _load(self, tenant: str, session: str) -> _Kept:
        stored = await self._store.session(tenant + _BESIDE, session)
        if stored is None:
            return _Kept(version=0, memory=Memory())
        live = self._live.get((tenant, session))
        if live is not None and live.version == stored.version:
            return live
        if stored.state is None:
            return _Kept(version=stored.version, memory=Memory())
        try:
            memory = stored_values.load(Memory, stored.state)
        except WireFormatError as error:
            raise StoreError(f"what is stored cannot be read: {error}") from None
        return _Kept(version=stored.version, memory=memory)

    async def _write(self, tenant: str, session: str, version: int, memory: Memory) -> Memory:
        now = datetime.now(UTC)
        await self._store.commit(
            StoredSession(
                tenant=tenant + _BESIDE,
                id=session,
                version=version,
                state=stored_values.dump(memory) if self._texts else None,
                created_at=now,
                updated_at=now,
            ),
            (),
        )
        self._live.put((tenant, session), _Kept(version=version, memory=memory))
        return memory


def memories(request: Request) -> Memories:
    """The memories of the server that this request came to."""
    found: Memories | None = getattr(request.app.state, "agent_hooks_memories", None)
    if found is None:
        found = request.app.state.agent_hooks_memories = _of(services(request))
    return found


def _of(server: Services) -> Memories:
    settings = server.settings.server
    return Memories(
        server.store,
        texts=settings.store_texts,
        redact=settings.redact_secrets,
        live=settings.live_sessions,
    )


def _without_secrets(memory: Memory) -> Memory:
    """Verdicts hold feedback, and feedback quotes what was said."""
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
