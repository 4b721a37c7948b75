"""LangChain's messages as JSON, rewritten as messages of OpenAI's chat completions.

There are two ways to write them: as they are ("type": "human") and as constructors, which
LangChain's own serialisation makes ("lc": 1, with the message under "kwargs").
"""

from collections.abc import Mapping
from typing import Any

_ROLES = {
    "human": "user",
    "HumanMessage": "user",
    "HumanMessageChunk": "user",
    "ai": "assistant",
    "AIMessage": "assistant",
    "AIMessageChunk": "assistant",
    "system": "system",
    "SystemMessage": "system",
    "tool": "tool",
    "ToolMessage": "tool",
    "function": "function",
    "FunctionMessage": "function",
}
_TWICE = frozenset({"tool_use", "tool_call", "function_call", "input_json_delta"})
"""Blocks of the content that stand under `tool_calls` once more."""
_REASONING = frozenset({"reasoning", "reasoning_content", "thinking", "redacted_thinking"})


def is_message(value: object) -> bool:
    """Whether this is a message of LangChain's."""
    return isinstance(value, dict) and _kind(value) in _ROLES


def as_chat(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """The same message for `openai_chat`; one that is in that shape already comes back as it is."""
    body = _body(message)
    calls = _calls(body)
    kind = _kind(message)
    if kind not in _ROLES:
        return {**message, "tool_calls": calls} if _has_plain_calls(body) else message
    return {
        "role": _ROLES[kind],
        "content": _content(body.get("content")),
        "tool_calls": calls,
        "tool_call_id": body.get("tool_call_id"),
        "name": body.get("name") if kind in ("function", "FunctionMessage") else None,
    }


def _body(message: Mapping[str, Any]) -> Mapping[str, Any]:
    inner = message.get("kwargs")
    return inner if "lc" in message and isinstance(inner, dict) else message


def _kind(message: Mapping[str, Any]) -> str:
    kind = _body(message).get("type")
    if "lc" in message and kind is None:
        path = message.get("id")
        kind = path[-1] if isinstance(path, list) and path else None
    return kind if isinstance(kind, str) and "role" not in message else ""


def _content(content: object) -> object:
    """The content without what stands elsewhere in the message."""
    if not isinstance(content, list):
        return content
    blocks = ({"type": "text", "text": one} if isinstance(one, str) else one for one in content)
    return [block for block in blocks if not _is_left_out(block)]


def _is_left_out(block: object) -> bool:
    kind = block.get("type") if isinstance(block, dict) else None
    return isinstance(kind, str) and kind in _TWICE | _REASONING


def _has_plain_calls(body: Mapping[str, Any]) -> bool:
    """Whether calls have their name and arguments without a function around them."""
    return any("args" in call for call in _objects(body.get("tool_calls")))


def _calls(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """All calls, those that LangChain could not parse included: the model wanted them."""
    plain = [*_objects(body.get("tool_calls")), *_objects(body.get("invalid_tool_calls"))]
    extra = body.get("additional_kwargs")
    if not plain and isinstance(extra, dict):
        plain = _objects(extra.get("tool_calls"))
    return [_call(call) for call in plain]


def _call(call: Mapping[str, Any]) -> Mapping[str, Any]:
    if "args" not in call:
        return call
    function = {"name": call.get("name"), "arguments": call["args"]}
    return {"id": call.get("id"), "type": "function", "function": function}


def _objects(value: object) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
