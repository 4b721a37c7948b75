"""Who carries out what a block of an Anthropic message asks for."""

from taskshield.adapters.conversations.anthropic_messages import is_result

_PROVIDER_RUN = frozenset({"server_tool_use", "mcp_tool_use"})


def is_call(kind: object) -> bool:
    """Whether blocks of this type ask the client to do something.

    Types come and go, so whatever calls itself the use of a tool is taken for one.
    """
    return isinstance(kind, str) and kind.endswith("tool_use") and kind not in _PROVIDER_RUN


def ran_at_provider(kind: object) -> bool:
    """Whether blocks of this type tell of something that the provider has done already."""
    return kind in _PROVIDER_RUN or is_result(kind)
