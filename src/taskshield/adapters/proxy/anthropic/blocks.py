"""Which blocks of an Anthropic message the client must act on, and which the provider ran.

Every type of the current SDK is listed, and a test compares. Types come and go, so a type that is
not listed counts as a call.
"""

from taskshield.adapters.parsing.json_reader import Field
from taskshield.adapters.proxy.exchange import Body
from taskshield.adapters.proxy.strict_json import check_has_no_call, check_members, kind_of

CLIENT_RUN = frozenset({"tool_use"})
TEXTS = frozenset({"text"})
REASONING = frozenset({"thinking", "redacted_thinking"})
PROVIDER_RUN = frozenset({"server_tool_use", "mcp_tool_use"})
RESULTS = frozenset(
    {
        "advisor_tool_result",
        "bash_code_execution_tool_result",
        "code_execution_tool_result",
        "mcp_tool_result",
        "text_editor_code_execution_tool_result",
        "tool_result",
        "tool_search_tool_result",
        "web_fetch_tool_result",
        "web_search_tool_result",
    }
)
"""What tools returned that the provider has run."""
NOTES = frozenset({"compaction", "container_upload", "fallback", "mcp_tool_listing"})
"""What the provider says about its own work."""
KNOWN = CLIENT_RUN | TEXTS | REASONING | PROVIDER_RUN | RESULTS | NOTES

_OF_RESULTS = frozenset({"type", "tool_use_id", "content", "is_error", "caller", "cache_control"})


def is_call(block: Body) -> bool:
    """Whether a block asks the client to do something, or may do so."""
    kind = block.get("type")
    return kind in CLIENT_RUN or not (kind in KNOWN or _is_result(block))


def ran_at_provider(block: Body) -> bool:
    """Whether a block reports what the provider has done already."""
    return block.get("type") in PROVIDER_RUN | RESULTS | NOTES or _is_result(block)


def as_call(block: Body) -> Body:
    """A call as a block of the one type that conversations know.

    Of an unknown type all members are the input, because any of them may say what to do.
    """
    if block.get("type") in CLIENT_RUN:
        return block
    given = {key: value for key, value in block.items() if key not in ("type", "id")}
    return {"type": "tool_use", "id": block.get("id"), "name": block["type"], "input": given}


def check_block(field: Field) -> None:
    """Check that no reader takes a block for one of another type.

    Raises:
        WireFormatError: Some may do so.
    """
    kind = kind_of(field, KNOWN)
    if kind in CLIENT_RUN:
        check_members(field, "input")
    elif kind in TEXTS | REASONING:
        check_members(field)
    elif kind in RESULTS | NOTES:
        for member in field.members():
            check_has_no_call(member)


def _is_result(block: Body) -> bool:
    kind = block.get("type")
    named = isinstance(kind, str) and kind.endswith("_tool_result")
    return named and _OF_RESULTS.issuperset(block)
