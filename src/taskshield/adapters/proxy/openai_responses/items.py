"""Items of OpenAI Responses: which ones the client must act on, their results, and notes."""

from collections.abc import Iterable, Sequence
from typing import Any

from taskshield.adapters.conversations.response_items import (
    CLIENT_RUN,
    KNOWN,
    OUTPUTS,
    PROVIDER_RUN,
    SILENT,
    TEXTS,
    TOOL_LISTS,
    is_output,
)
from taskshield.adapters.parsing.json_reader import Field
from taskshield.adapters.proxy.exchange import Body
from taskshield.adapters.proxy.json_edits import without
from taskshield.adapters.proxy.strict_json import (
    check_has_no_call,
    check_members,
    kind_of,
)
from taskshield.core.errors import ConversationError
from taskshield.core.messages import digest

_AT_PROVIDER = "container_reference"
"""The environment of a shell that the provider runs."""
_OF_OUTPUTS = frozenset({"type", "id", "call_id", "output", "status", "caller", "created_by"})
_WRITTEN = ("action", "actions", "arguments", "input", "operation")
"""Where calls keep what the model wrote, which may look like anything."""


def may_be_acted_on(item: Body) -> bool:
    """Whether an item asks for something that the provider has not done itself, or may do so."""
    kind = item.get("type")
    if kind == "tool_search_call":
        return item.get("execution") != "server"
    if kind in CLIENT_RUN:
        return True
    at_rest = kind in TEXTS | SILENT | TOOL_LISTS | OUTPUTS | PROVIDER_RUN
    return not at_rest and not (is_output(kind) and _OF_OUTPUTS.issuperset(item))


def check_item(field: Field) -> None:
    """Check that no reader takes an item for one of another type.

    Raises:
        WireFormatError: Some may do so.
    """
    kind = kind_of(field, KNOWN)
    if kind in CLIENT_RUN:
        check_members(field, *_WRITTEN)
    elif kind in TEXTS | SILENT:
        check_members(field, "content")
        check_has_no_call(field["content"])


def calls_of(items: Sequence[Body]) -> list[int]:
    """The numbers of the items that the client must act on.

    A shell may run at the client or at the provider. The provider ran it where the output stands
    beside the call, and the call names its container.
    """
    outputs = {_call_id(item) for item in items if item.get("type") == "shell_call_output"}
    return [
        number
        for number, item in enumerate(items)
        if may_be_acted_on(item)
        and not (_ran_in_container(item) and _call_id(item) in outputs - {None})
    ]


def as_read(item: Any) -> Any:
    """An item of which conversations know the type; all members of an unknown call are its input.

    Any of them may say what to do.
    """
    kind = item.get("type") if isinstance(item, dict) else None
    if not isinstance(kind, str) or kind in KNOWN or not may_be_acted_on(item):
        return item
    return {
        "type": "custom_tool_call",
        "id": item.get("id"),
        "call_id": item.get("call_id"),
        "name": kind,
        "input": without(item, "type", "id", "call_id", "status"),
    }


def _ran_in_container(item: Body) -> bool:
    environment = item.get("environment")
    named = isinstance(environment, dict) and environment.get("type") == _AT_PROVIDER
    return named and item.get("type") == "shell_call"


def identity(item: Body) -> str:
    """What an item has in common in all events of a stream."""
    return f"{item.get('type')} {item.get('call_id') or item.get('id')}"


def result(call: Body, call_id: str, text: str) -> Body:
    """The item of a request that is the result of a call, as a text.

    Raises:
        ConversationError: The result of calls of this type cannot be a text.
    """
    caller = {} if call.get("caller") is None else {"caller": call["caller"]}
    kind = call["type"]
    match kind:
        case "function_call" | "custom_tool_call":
            answer = {"call_id": call_id, "output": text, **caller}
        case "shell_call":
            answer = {"call_id": call_id, "output": [shell_chunk(text, status=1)], **caller}
        case "apply_patch_call":
            answer = {"call_id": call_id, "status": "failed", "output": text, **caller}
        case "local_shell_call":
            answer = {"id": call_id, "output": text}
        case "mcp_approval_request":
            answer = {"approval_request_id": call_id, "approve": False, "reason": text}
            return {"type": "mcp_approval_response", **answer}
        case _:
            raise ConversationError("the result of calls of this type cannot be a text")
    return {"type": f"{kind}_output", **answer}


def shell_chunk(text: str, *, status: int) -> Body:
    """A chunk of the output of a shell."""
    return {"stdout": text, "stderr": "", "outcome": {"type": "exit", "exit_code": status}}


def note_item(response_id: object, note: str) -> Body:
    """A complete message of the assistant with a note."""
    return {
        # The provider accepts only ids that begin so. The same note gets the same id.
        "id": f"msg_{digest(str(response_id), note)[:48]}",
        "type": "message",
        "status": "completed",
        "role": "assistant",
        "content": [text_part(note)],
    }


def text_part(text: str) -> Body:
    """The text of a message."""
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def sendable(items: Iterable[Body], *, stored: bool) -> list[Body]:
    """Items of an answer as items of the next request.

    Where nothing is stored, the provider knows no ids, and reasoning only where it is encrypted.
    """
    if stored:
        return list(items)
    return [
        without(item, "id")
        for item in items
        if item.get("type") != "reasoning" or item.get("encrypted_content")
    ]


def _call_id(item: Body) -> str | None:
    given = item.get("call_id")
    return given if isinstance(given, str) else None
