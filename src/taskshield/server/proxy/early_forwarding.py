"""Which requests may go to the upstream while the judge still reads the tools' outputs in them.

What the model says to a request that has to be changed is thrown away unseen. So going ahead costs
a question asked in vain now and then, and must not be done where the upstream could do more than
answer, or must never see what the judge would take out.
"""

from taskshield.adapters.proxy.exchange import Body
from taskshield.server.bounded_cache import BoundedCache
from taskshield.server.proxy.session_lookup import MatchedSession, ProxyRequest
from taskshield.settings import Settings

_KEPT = 10_000
_RUN_BY_CLIENTS = (None, "function", "custom")
"""Types of tools that only clients run; there are new ones at the providers every year."""
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
"""What a request may ask for without having the upstream do anything but answer."""


class EarlyForwarding:
    """Knows the settings, and which outputs had to be changed before."""

    def __init__(self, settings: Settings) -> None:
        self._wanted = settings.server.upstream.ahead and settings.policy.output == "annotate"
        self._changed: BoundedCache[int, bool] = BoundedCache(_KEPT)

    def may_go(self, asking: ProxyRequest, body: Body) -> bool:
        """Whether a request with outputs of tools may go ahead of its judgement."""
        return (
            self._wanted
            and asking.request.continues is None
            and _only_asks(body)
            and not any(self._changed.get(hash(each.text)) for each in asking.messages)
        )

    def learn(self, opened: MatchedSession) -> None:
        """Remember what was changed: the client sends it again with every request."""
        if not self._wanted:
            return
        changed = opened.texts()
        for message, place in zip(
            opened.asking.messages, opened.asking.request.places, strict=True
        ):
            if place in changed:
                self._changed.put(hash(message.text), True)


def _only_asks(body: Body) -> bool:
    """Whether all that the upstream can do about a request is to answer it."""
    tools = body.get("tools") or []
    return _HARMLESS.issuperset(body) and all(
        isinstance(tool, dict) and tool.get("type") in _RUN_BY_CLIENTS for tool in tools
    )
