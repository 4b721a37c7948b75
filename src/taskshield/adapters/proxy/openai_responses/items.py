"""Items of OpenAI Responses: which ones the client must act on, their results, and notes."""

from collections.abc import Iterable, Sequence

from taskshield.adapters.conversations.openai_responses import PROVIDER_RUN, is_call, is_output
from taskshield.adapters.proxy.exchange import Body
from taskshield.adapters.proxy.json_edits import without
from taskshield.core.errors import ConversationError
from taskshield.core.messages import digest


def may_be_acted_on(item: Body) -> bool:
    """Whether an item asks for something that the provider has not done itself."""
    kind = item.get("type")
    if kind == "tool_search_call":
        return item.get("execution") == "client"
    return is_call(kind) and kind not in PROVIDER_RUN


def calls_of(items: Sequence[Body]) -> list[int]:
    """The numbers of the items that the client must act on.

    Some tools run at the client or at the provider. Where the output stands beside the call, the
    provider ran it.
    """
    run_by_provider = {_call_id(item) for item in items if is_output(item.get("type"))} - {None}
    return [
        number
        for number, item in enumerate(items)
        if may_be_acted_on(item) and _call_id(item) not in run_by_provider
    ]


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
