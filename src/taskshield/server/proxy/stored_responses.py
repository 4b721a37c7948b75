"""Responses that the provider stores, as a client that asks for one may see them."""

import json
from dataclasses import dataclass, replace

from taskshield.adapters.proxy.openai_responses import body as responses_format
from taskshield.core.errors import WireFormatError
from taskshield.server.proxy.error_answers import error_body
from taskshield.server.proxy.notices import STORED
from taskshield.server.proxy.provider import (
    ProviderClient,
    ProviderRequest,
    ProviderResponse,
    invalid,
)
from taskshield.server.proxy.removed_calls import RemovedCallsStore
from taskshield.server.proxy.response_relay import CompleteRelay
from taskshield.server.proxy.session_lookup import SessionLookup
from taskshield.server.threads import off_loop


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredResponse:
    """The provider's answer about a stored response."""

    response: ProviderResponse
    content: bytes
    """What the client may see of it."""


class StoredResponses:
    """Finds stored responses, and removes from them what was removed from the answers."""

    def __init__(
        self, provider: ProviderClient, sessions: SessionLookup, removed_calls: RemovedCallsStore
    ) -> None:
        self._provider = provider
        self._sessions = sessions
        self._removed_calls = removed_calls

    async def get(self, tenant: str, id: str, request: ProviderRequest) -> StoredResponse:
        """Ask the provider for a response, under the id by which the provider has it.

        Raises:
            ProviderError: There is no answer.
            StoreError: It is not known what the client may see.
        """
        removed = await self._removed_calls.get(tenant, id)
        if removed is not None and removed.previous is not None:
            request = replace(request, path=f"/v1/responses/{removed.previous}".encode())
        response = await self._provider.send(request)
        try:
            if not response.ok:
                return StoredResponse(response=response, content=await error_body(response))
            relay = await _read(response)
        finally:
            await response.aclose()
        stored, reply = relay.response, relay.complete
        assert stored is not None and reply is not None
        calls = {call.id for message in reply.messages for call in message.tool_calls}
        if removed is not None:
            calls &= set(removed.refused)
        elif await self._sessions.knows(tenant, id):
            calls = set()
        content = b"".join(relay.release())
        if calls or stored.get("id") != id:
            shown = responses_format.without_calls(stored, calls, STORED) if calls else stored
            content = json.dumps({**shown, "id": id}).encode()
        return StoredResponse(response=response, content=content)


async def _read(response: ProviderResponse) -> CompleteRelay:
    relay = CompleteRelay(responses_format)
    try:
        async for chunk in response.chunks():
            relay.feed(chunk)
        await off_loop(relay.unread, relay.close)
    except WireFormatError as error:
        raise invalid(error) from None
    return relay
