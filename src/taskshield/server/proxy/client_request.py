"""A client's request that is to be guarded, with all that was read from it."""

from dataclasses import dataclass
from functools import partial

from taskshield.adapters.proxy.exchange import Body, Request
from taskshield.adapters.proxy.wire_format import WireFormat
from taskshield.core.messages import Conversation, Message
from taskshield.server.proxy.provider import ProviderRequest
from taskshield.server.sessions.resume_keys import conversation_names
from taskshield.server.sessions.snapshots import RequestSource
from taskshield.server.threads import off_loop


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientRequest:
    """Who asks for what, and in which session."""

    tenant: str
    source: RequestSource
    wire_format: WireFormat
    parsed: Request
    body: Body
    """The same as JSON."""
    outgoing: ProviderRequest
    """The same over HTTP, as the provider gets it where the check changes nothing."""
    session: str | None = None
    """As the client's header names it."""

    @property
    def messages(self) -> tuple[Message, ...]:
        """What the client sent."""
        return self.parsed.conversation.messages

    @property
    def can_change(self) -> bool:
        """Whether the check may change what the provider is sent.

        Only outputs of tools are ever rewritten, and only to a response that the provider stores
        may results have to be added.
        """
        return self.parsed.continues is not None or any(
            place is not None for place in self.parsed.places
        )

    async def names(self, *more: Message) -> list[str]:
        """Names, in its own session, of all beginnings of the conversation, the empty one first."""
        seed = f"proxy {self.session} {self.parsed.continues}"
        conversation = Conversation(messages=(*self.messages, *more))
        size = len(self.outgoing.content)
        return await off_loop(size, partial(conversation_names, seed, conversation))
