"""The wire formats as readers of a tool's output, and what becomes of a sentence in it."""

import json
from collections.abc import Callable, Mapping
from typing import Any, Literal

from taskshield.adapters.agent_hooks import parse as agent_hooks
from taskshield.adapters.azure import task_adherence
from taskshield.adapters.claude_code import events
from taskshield.adapters.conversations import anthropic_messages, openai_chat, openai_responses
from taskshield.core.errors import WireFormatError
from taskshield.core.levels import Level
from taskshield.core.messages import Message
from tests.shapes.values import MARKER

Outcome = Literal["judged", "refused", "harmless", "unread"]
"""What becomes of a sentence.

- judged: the judge reads it
- refused: the output is refused
- harmless: it is in the bytes of a picture, a sound or a document, listed as unreadable
- unread: none of these
"""


def _claude_code(value: Any) -> Message:
    event = events.parse(
        {
            "hook_event_name": "PostToolUse",
            "session_id": "s",
            "tool_name": "mcp__files__read",
            "tool_input": {},
            "tool_response": value,
        }
    )
    assert isinstance(event, events.ToolResult)
    return event.message


def _agent_hooks(point: str, **members: Any) -> Message:
    body = {
        "spec": agent_hooks.SPEC,
        "interception_point": point,
        "timestamp": "2026-01-01T00:00:00Z",
        "sequence": 1,
        "agent": {"id": "a", "framework": "f"},
        "session": {"id": "s"},
        **members,
    }
    payload: Any = agent_hooks.parse(body).payload
    assert isinstance(payload.message, Message)
    return payload.message


def _post_tool_call(value: Any) -> Message:
    call = {"id": "c", "name": "read", "args": {}}
    result = {"value": value, "is_error": False}
    return _agent_hooks("post_tool_call", tool_call=call, tool_result=result, target=value)


def _external_input(value: Any) -> Message:
    given = {"role": "external", "content": value}
    return _agent_hooks("input", input=given, target=given)


def _anthropic(value: Any) -> Message:
    block = {"type": "tool_result", "tool_use_id": "t", "content": [value]}
    return _output(anthropic_messages.parse([{"role": "user", "content": [block]}]).messages)


def _openai_chat(value: Any) -> Message:
    wire = [{"role": "tool", "tool_call_id": "c", "content": [value]}]
    return _output(openai_chat.parse(wire).messages)


def _function_output(value: Any) -> Message:
    item = {"type": "function_call_output", "call_id": "c", "output": [value]}
    return _output(openai_responses.parse([item]).messages)


def _mcp_call(value: Any) -> Message:
    item = {"type": "mcp_call", "id": "m", "name": "read", "server_label": "x", "arguments": "{}"}
    return _output(openai_responses.parse([{**item, "output": [value]}]).messages)


def _file_search(value: Any) -> Message:
    item = {"type": "file_search_call", "id": "f", "queries": ["a"], "results": [value]}
    return _output(openai_responses.parse([item]).messages)


def _azure(value: Any) -> Message:
    message = {"source": "prompt", "role": "tool", "toolCallId": "c", "contents": [value]}
    return _output(task_adherence.parse({"messages": [message]}).messages)


SURFACES: Mapping[str, Callable[[Any], Message]] = {
    "Claude Code hook": _claude_code,
    "Agent Hooks, result": _post_tool_call,
    "Agent Hooks, input": _external_input,
    "Anthropic messages": _anthropic,
    "OpenAI chat": _openai_chat,
    "OpenAI Responses, function": _function_output,
    "OpenAI Responses, MCP": _mcp_call,
    "OpenAI Responses, search": _file_search,
    "Azure": _azure,
}


def outcome(read: Callable[[Any], Message], name: str, value: Any) -> Outcome:
    """What becomes of the sentence in a value."""
    try:
        message = read(json.loads(json.dumps(value)))
    except WireFormatError:
        return "refused"
    if MARKER in " ".join(message.text.split()):
        return "judged"
    in_file = name.endswith(" / a file") and bool(message.unreadable)
    return "harmless" if in_file else "unread"


def _output(messages: tuple[Message, ...]) -> Message:
    (output,) = [message for message in messages if message.level is Level.TOOL]
    return output
