"""Which requests are sent to the provider while the judge still reads the tool outputs in them.

Where the check changes such a request, the provider's answer to it is dropped unread, and the
changed request is sent. So early forwarding sometimes costs a request. It is not allowed where the
provider could do more than answer, or must never see what the check would take out.
"""

from taskshield.adapters.proxy.exchange import Body
from taskshield.server.bounded_cache import BoundedCache
from taskshield.server.proxy.client_request import ClientRequest
from taskshield.server.proxy.session_lookup import MatchedSession
from taskshield.settings import Settings

_REMEMBERED = 10_000
_RUN_BY_CLIENTS = (None, "function", "custom")
"""Types of tools that only clients run. Providers add new types every year."""
_HARMLESS = frozenset(
    (
        "model messages input system instructions stream stream_options store user metadata"
        " tools tool_choice parallel_tool_calls functions function_call"
        " temperature top_p top_k n seed stop stop_sequences"
        " max_tokens max_completion_tokens max_output_tokens"
        " presence_penalty frequency_penalty logit_bias logprobs top_logprobs"
        " response_format text verbosity reasoning reasoning_effort thinking include service_tier"
        " prompt_cache_key safety_identifier truncation"
    ).split()
)
"""Members of a request with which the provider does nothing but answer."""


class EarlyForwarding:
    """Decides by the settings, and by the outputs that earlier checks changed."""

    def __init__(self, settings: Settings) -> None:
        self._enabled = settings.server.upstream.ahead and settings.policy.output == "annotate"
        self._changed: BoundedCache[int, bool] = BoundedCache(_REMEMBERED)

    def allows(self, request: ClientRequest) -> bool:
        """Whether a request that its check could change may be sent before it is checked."""
        return (
            self._enabled
            and request.parsed.continues is None
            and _only_asks(request.body)
            and not any(self._changed.get(hash(each.text)) for each in request.messages)
        )

    def learn(self, session: MatchedSession) -> None:
        """Remember which outputs were changed: the client sends them again in every request."""
        if not self._enabled:
            return
        changed, request = session.rewritten_outputs(), session.request
        for message, place in zip(request.messages, request.parsed.places, strict=True):
            if place in changed:
                self._changed.put(hash(message.text), True)


def _only_asks(body: Body) -> bool:
    """Whether the provider can do nothing about a request but answer it."""
    tools = body.get("tools") or []
    return _HARMLESS.issuperset(body) and all(
        isinstance(tool, dict) and tool.get("type") in _RUN_BY_CLIENTS for tool in tools
    )
