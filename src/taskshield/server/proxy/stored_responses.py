"""Answers that a provider keeps and of which the client saw less: what to say when it goes on.

A call that was removed is still open at the provider, and over several rounds the client knows an
answer by the id of another one. Both are kept in the store beside the sessions, as a session of a
tenant that no key can have. What is kept are ids and words of our own.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from taskshield.adapters import stored_values
from taskshield.adapters.proxy.exchange import Body
from taskshield.adapters.proxy.openai_responses import body as responses_format
from taskshield.core.errors import ConversationError, StoreError, WireFormatError
from taskshield.core.store import Store, StoredSession
from taskshield.server.proxy.notices import NOT_RUN

_BESIDE = "\x1fproxy"


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovedCalls:
    """What a client does not know of an answer."""

    previous: str | None = None
    """The id under which the provider keeps it."""
    refused: tuple[str, ...] = ()
    """Ids of calls that were removed."""
    results: tuple[dict[str, Any], ...] = ()
    """What the provider must be told about them."""


def rest_of(response: Body, refused: frozenset[str]) -> RemovedCalls:
    """What is left out of an answer."""
    try:
        results = responses_format.results_of(response, refused, NOT_RUN)
    except ConversationError:
        results = []  # the provider itself will say that a result is missing
    id = response.get("id")
    return RemovedCalls(
        previous=id if isinstance(id, str) else None,
        refused=tuple(sorted(refused)),
        results=tuple(results),
    )


def gone_on(body: Body, rest: RemovedCalls) -> Body:
    """A request that goes on from an answer, as the provider must be asked; it may be the same."""
    known_otherwise = body.get("previous_response_id") not in (None, rest.previous)
    if not known_otherwise and not rest.results:
        return body
    return responses_format.resumed(body, previous=rest.previous, results=rest.results)


class RemovedCallsStore:
    """What clients do not know of their answers, by the id that they know them by."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def get(self, tenant: str, id: str) -> RemovedCalls | None:
        """What is kept about an answer, or about a conversation of the provider."""
        stored = await self._store.session(tenant + _BESIDE, id)
        if stored is None or stored.state is None:
            return None
        try:
            return stored_values.load(RemovedCalls, stored.state)
        except WireFormatError as error:
            raise StoreError(f"what is stored cannot be read: {error}") from None

    async def put(self, tenant: str, id: str, rest: RemovedCalls) -> None:
        """Keep it."""
        stored = await self._store.session(tenant + _BESIDE, id)
        now = datetime.now(UTC)
        await self._store.commit(
            StoredSession(
                tenant=tenant + _BESIDE,
                id=id,
                version=1 if stored is None else stored.version + 1,
                state=stored_values.dump(rest),
                created_at=now,
                updated_at=now,
            ),
            (),
        )
