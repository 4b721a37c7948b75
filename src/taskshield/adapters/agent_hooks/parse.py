"""Agent Hooks 0.1, agent:evaluate: reads the request of a host at each interception point.

Owns the request. The messages that an event adds to a session belong to `steps`, the answer to
`verdicts`.
"""

import json
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TypeAlias

from taskshield.adapters.agent_hooks.events import (
    Agent,
    AgentShutdown,
    AgentStartup,
    Event,
    Input,
    Output,
    Payload,
    PostModelCall,
    PostToolCall,
    PreModelCall,
    PreToolCall,
    Role,
)
from taskshield.adapters.conversations.host_text import by_author
from taskshield.adapters.parsing.json_reader import Field, call_id, filled, json_text
from taskshield.adapters.parsing.message_content import readable_parts, with_distinct_ids
from taskshield.adapters.parsing.request_body import root_of_body
from taskshield.adapters.parsing.tool_output import output_parts
from taskshield.core.errors import WireFormatError
from taskshield.core.levels import Level
from taskshield.core.messages import Message, ToolCall
from taskshield.core.tools import ToolSpec

API_VERSIONS = frozenset({"2026-10-15-preview", "2026-11-01-preview"})
SPEC = "agent-hooks/0.1"
MAX_BYTES = 1_048_576
"""Of a request or an answer, decoded."""
MAX_DEPTH = 64
"""Levels of objects and lists in a request or an answer."""

_ROLES: Mapping[str, Role] = {"user": "user", "system": "system", "external": "external"}
_INPUT_LEVELS = {"user": Level.USER, "system": Level.SYSTEM, "external": Level.TOOL}
_SYSTEM_ROLES = ("system", "developer")
_ENDINGS = {reason: reason for reason in ("completed", "error", "cancelled")}
_FRAMEWORK = re.compile(r"[a-z0-9_-]+")


def parse(body: bytes | object) -> Event:
    """Read an event: bytes, or the JSON in them.

    Raises:
        WireFormatError: It is not one, or too large; the message begins with the path.
    """
    if isinstance(body, bytes) and len(body) > MAX_BYTES:
        raise WireFormatError(f"body: larger than {MAX_BYTES} bytes")
    root = root_of_body(body)
    _check_domain(root)
    spec = root["spec"]
    if spec.text() != SPEC:
        raise spec.refused(f"must be {SPEC}, the only supported version")
    read = root["interception_point"].choice(_POINTS)
    sequence = _whole_number(root["sequence"])
    session = _filled_text(root["session"]["id"])
    payload, target = read(root, sequence)
    if _canonical(root["target"]) != _canonical(target):
        raise root["target"].refused(f"must equal {target.path}")
    return Event(
        timestamp=_instant(root["timestamp"]),
        sequence=sequence,
        agent=_agent(root["agent"]),
        session=session,
        tools=tuple(_tool(tool) for tool in root["tools"].elements()),
        payload=payload,
        target=root["target"],
    )


def depth(value: object) -> int:
    """How many levels of objects and lists a checked value has."""
    if isinstance(value, dict):
        return 1 + max(map(depth, value.values()), default=0)
    if isinstance(value, list):
        return 1 + max(map(depth, value), default=0)
    return 0


_Read: TypeAlias = tuple[Payload, Field]
"""What an event holds, and which part of it is the target."""


def _agent_startup(root: Field, sequence: int) -> _Read:
    init = root["agent_init"]
    names = _required(init["tools_registered"]).elements()
    return AgentStartup(tools_registered=tuple(name.text() for name in names)), init


def _input(root: Field, sequence: int) -> _Read:
    given = root["input"]
    role = given["role"].choice(_ROLES)
    content = _present(given, "content")
    parts = output_parts(content) if role == "external" else readable_parts(content)
    return Input(role=role, message=Message(level=_INPUT_LEVELS[role], parts=filled(parts))), given


def _pre_model_call(root: Field, sequence: int) -> _Read:
    messages = _required(root["messages"])
    system: list[Message] = []
    begun = False
    for message in messages.elements():
        if message["role"].text() in _SYSTEM_ROLES:
            parts = filled(readable_parts(_present(message, "content")))
            system += by_author(Message(level=Level.SYSTEM, parts=parts), begun=begun)
        else:
            begun = True
    return PreModelCall(model=root["model"]["id"].text(), system=tuple(system)), messages


def _post_model_call(root: Field, sequence: int) -> _Read:
    response = root["response"]
    wire = _required(response["tool_calls"])
    calls = [_announced(call, sequence, number) for number, call in enumerate(wire.elements())]
    unnamed = frozenset(
        call.id for call, given in zip(calls, wire.elements(), strict=True) if not given["id"].value
    )
    message = Message(
        level=Level.ASSISTANT,
        parts=filled(readable_parts(_present(response, "content"))),
        tool_calls=with_distinct_ids(calls, wire),
    )
    payload = PostModelCall(
        model=root["model"]["id"].text(),
        message=message,
        unnamed=unnamed,
        finish_reason=response["finish_reason"].text(),
    )
    return payload, response


def _pre_tool_call(root: Field, sequence: int) -> _Read:
    return PreToolCall(call=_call(root["tool_call"])), root["tool_call"]["args"]


def _post_tool_call(root: Field, sequence: int) -> _Read:
    call = _call(root["tool_call"])
    value = _present(root["tool_result"], "value")
    is_error = root["tool_result"]["is_error"].flag()
    if is_error is None:
        raise root["tool_result"]["is_error"].wrong("true or false")
    message = Message(
        level=Level.TOOL, parts=filled(output_parts(value)), answers=call.id, is_error=is_error
    )
    return PostToolCall(call=call, message=message), value


def _output(root: Field, sequence: int) -> _Read:
    given = root["output"]
    parts = filled(readable_parts(_present(given, "content")))
    return Output(message=Message(level=Level.ASSISTANT, parts=parts)), given


def _agent_shutdown(root: Field, sequence: int) -> _Read:
    summary = root["summary"]
    return AgentShutdown(reason=summary["reason"].choice(_ENDINGS)), summary


_POINTS: Mapping[str, Callable[[Field, int], _Read]] = {
    "agent_startup": _agent_startup,
    "input": _input,
    "pre_model_call": _pre_model_call,
    "post_model_call": _post_model_call,
    "pre_tool_call": _pre_tool_call,
    "post_tool_call": _post_tool_call,
    "output": _output,
    "agent_shutdown": _agent_shutdown,
}


def _announced(field: Field, sequence: int, number: int) -> ToolCall:
    return ToolCall(
        id=call_id(field["id"], sequence, number),
        name=_filled_text(field["name"]),
        arguments=_arguments(field["args"]),
    )


def _call(field: Field) -> ToolCall:
    return ToolCall(
        id=_filled_text(field["id"]),
        name=_filled_text(field["name"]),
        arguments=_arguments(field["args"]),
    )


def _arguments(field: Field) -> str:
    field.mapping()
    return json_text(field)


def _tool(field: Field) -> ToolSpec:
    schema = field["schema"]
    return ToolSpec(
        name=_filled_text(field["name"]),
        description=field["description"].text_or(""),
        parameters=schema.mapping() if schema.given else {},
    )


def _agent(field: Field) -> Agent:
    framework = field["framework"]
    if _FRAMEWORK.fullmatch(framework.text()) is None:
        raise framework.refused("may only hold lower-case letters, digits, _ and -")
    return Agent(
        id=_filled_text(field["id"]),
        framework=framework.text(),
        name=field["name"].text_or("") or None,
        version=field["version"].text_or("") or None,
    )


def _instant(field: Field) -> datetime:
    text = field.text()
    try:
        instant = datetime.fromisoformat(text)
        if instant.tzinfo is not None:
            return instant.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise field.refused("must be an ISO 8601 date and time with a time zone")


def _whole_number(field: Field) -> int:
    value = field.value
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise field.wrong("a whole number, 0 or greater,")
    return value


def _filled_text(field: Field) -> str:
    text = field.text()
    if not text:
        raise field.refused("must not be empty")
    return text


def _required(field: Field) -> Field:
    if not isinstance(field.value, list):
        raise field.wrong("a list")
    return field


def _present(parent: Field, key: str) -> Field:
    """A member that must be present, with any value."""
    if key not in parent.mapping():
        raise parent[key].refused("is missing")
    return parent[key]


def _check_domain(root: Field) -> None:
    """Refuse values that are not valid JSON, and nesting that is too deep."""
    if depth(root.value) > MAX_DEPTH:
        raise root.refused(f"nested more than {MAX_DEPTH} levels deep")
    try:
        json.dumps(root.value, ensure_ascii=False, allow_nan=False).encode()
    except ValueError:  # numbers that are none, or endless ones; half a character
        raise root.refused(
            "a number or a text in it is not valid in JSON (NaN, infinity or half a character)"
        ) from None


def _canonical(field: Field) -> str:
    """Equal values give equal texts, and true is not 1."""
    return json.dumps(field.value, sort_keys=True)
