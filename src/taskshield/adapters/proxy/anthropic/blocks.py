"""Which blocks of an Anthropic message the client must act on, and which the provider ran."""

from taskshield.adapters.conversations.anthropic_messages import is_result

_PROVIDER_RUN = frozenset({"server_tool_use", "mcp_tool_use"})


def is_call(kind: object) -> bool:
    """Whether blocks of this type ask the client to do something.

    Types come and go, so every type that is named as the use of a tool counts as one.
    """
    return isinstance(kind, str) and kind.endswith("tool_use") and kind not in _PROVIDER_RUN


def ran_at_provider(kind: object) -> bool:
    """Whether blocks of this type report what the provider has done already."""
    return kind in _PROVIDER_RUN or is_result(kind)
