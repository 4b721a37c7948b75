"""Calls that were removed from a response that the provider stores, and that are still open there.

When a client continues such a response, the provider must get results for them. And over several
rounds of a stream the client knows a response by the id of another one. Both are stored
beside the sessions, as a session of a tenant that no key can have: ids and texts of this package.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from taskshield.adapters.proxy.exchange import Body
from taskshield.adapters.proxy.openai_responses import body as responses_format
from taskshield.adapters.stored.containers import Listed, MapOf, OrNothing
from taskshield.adapters.stored.documents import Document
from taskshield.adapters.stored.records import Member, Record
from taskshield.adapters.stored.shapes import ANY_JSON, TEXT
from taskshield.core.errors import ConversationError, StoreError, WireFormatError
from taskshield.core.session_parts import document_version
from taskshield.core.store import Store, StoredSession
from taskshield.server.proxy.client_request import ClientRequest
from taskshield.server.proxy.notices import NOT_RUN

TENANT_SUFFIX = "\x1fproxy"


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovedCalls:
    """What a client does not know of a response."""

    previous: str | None = None
    """The id under which the provider stores it."""
    refused: tuple[str, ...] = ()
    """Ids of calls that were removed."""
    results: tuple[dict[str, Any], ...] = ()
    """Results for them, for the provider."""


REMOVED_CALLS: Document[RemovedCalls] = Document(
    name="RemovedCalls",
    record=Record(
        RemovedCalls,
        Member("previous", OrNothing(TEXT)),
        Member("refused", Listed(TEXT)),
        Member("results", Listed(MapOf(ANY_JSON))),
    ),
)


def removed_from(response: Body, refused: frozenset[str]) -> RemovedCalls:
    """What a client does not know of a response from which these calls were removed."""
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


def with_results(body: Body, removed: RemovedCalls) -> Body:
    """A request that continues a response, as the provider must get it; it may be the same."""
    renamed = body.get("previous_response_id") not in (None, removed.previous)
    if not renamed and not removed.results:
        return body
    return responses_format.resumed(body, previous=removed.previous, results=removed.results)


class RemovedCallsStore:
    """Removed calls, by the id of the response or conversation that clients know."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def before(self, request: ClientRequest) -> RemovedCalls | None:
        """What is stored about the response or conversation that a request continues."""
        if request.parsed.continues is None:
            return None
        return await self.get(request.tenant, request.parsed.continues)

    async def get(self, tenant: str, id: str) -> RemovedCalls | None:
        """What is stored about a response, or about a conversation of the provider."""
        stored = await self._store.session(tenant + TENANT_SUFFIX, id)
        if stored is None or stored.state is None:
            return None
        try:
            return REMOVED_CALLS.read(stored.state)
        except WireFormatError as error:
            raise StoreError(f"Removed calls in the store cannot be read: {error}") from None

    async def record(
        self,
        request: ClientRequest,
        before: RemovedCalls | None,
        response: Body,
        refused: frozenset[str],
        seen_id: str | None,
    ) -> None:
        """Store what a client does not know of the response to its request.

        Args:
            request: The request.
            before: What was stored about the response or conversation that it continues.
            response: The response as the provider has it.
            refused: Ids of the calls that were removed.
            seen_id: By which the client can continue the response; None where it cannot.
        """
        conversation = request.parsed.provider_conversation
        if seen_id is None and conversation is None:
            return
        removed = removed_from(response, refused)
        if seen_id is not None and (removed.refused or removed.previous != seen_id):
            await self._put(request.tenant, seen_id, removed)
        if conversation is not None and (removed.refused or before is not None):
            await self._put(request.tenant, conversation, removed)

    async def _put(self, tenant: str, id: str, removed: RemovedCalls) -> None:
        stored = await self._store.session(tenant + TENANT_SUFFIX, id)
        now = datetime.now(UTC)
        await self._store.commit(
            StoredSession(
                tenant=tenant + TENANT_SUFFIX,
                id=id,
                version=1 if stored is None else stored.version + 1,
                state=REMOVED_CALLS.write(removed, document_version(self._store)),
                created_at=now,
                updated_at=now,
            ),
            (),
        )
