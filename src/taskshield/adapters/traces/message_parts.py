"""Messages made of parts, as OpenTelemetry's conventions for generative AI write them.

{"role": "assistant", "parts": [{"type": "text", "content": ...},
                                {"type": "tool_call", "id": ..., "name": ..., "arguments": {...}}]}

One message may hold text of several levels: some instrumentations put tool output into a user
message. Each output becomes a message of its own at tool level, whatever the role of the message
around it. The agent's reasoning is left out: a judge must not treat it as fact.
"""

from collections.abc import Iterable, Iterator

from taskshield.adapters.parsing.json_reader import (
    Field,
    call_id,
    filled,
    json_text,
    only_assistant_calls,
)
from taskshield.adapters.parsing.tool_output import output_parts
from taskshield.core.levels import Level
from taskshield.core.messages import Message, Opaque, Part, Text, ToolCall

_LEVELS = {
    "system": Level.SYSTEM,
    "developer": Level.SYSTEM,
    "user": Level.USER,
    "assistant": Level.ASSISTANT,
    "model": Level.ASSISTANT,
    "tool": Level.TOOL,
}
_CALLS = {"tool_call": "arguments", "server_tool_call": "server_tool_call"}
"""Parts that ask for something to be done, and where each keeps what the model wrote."""
_RESULTS = {
    "tool_call_response": ("response", "result"),
    "server_tool_call_response": ("server_tool_call_response",),
}
"""Parts that hold the output of a tool, and where; the second name is an older one."""


def read(messages: Iterable[Field]) -> Iterator[Message]:
    """The messages, cut where a tool speaks.

    Raises:
        WireFormatError: A message is not in this shape; the error names the path.
    """
    for index, message in enumerate(messages):
        yield from _message(message["role"].choice(_LEVELS), message["parts"], index)


def instructions(parts: Field) -> Message:
    """The system message that stands apart from the others."""
    return Message(level=Level.SYSTEM, parts=filled(_part(part) for part in parts.elements()))


def written(field: Field) -> str:
    """Arguments as the model wrote them, or as JSON."""
    if isinstance(field.value, str):
        return field.value
    return json_text(field) if field.given else ""


def _message(level: Level, given: Field, index: int) -> Iterator[Message]:
    parts: list[Part] = []
    calls: list[ToolCall] = []
    called = 0
    whole = True
    for part in given.elements():
        kind = part["type"].text()
        if kind in _RESULTS:
            if parts or calls:
                yield Message(level=level, parts=filled(parts), tool_calls=tuple(calls))
            yield _result(part, kind)
            parts, calls, whole = [], [], False
        elif kind in _CALLS:
            if level is not Level.ASSISTANT:
                raise only_assistant_calls(part)
            calls.append(_call(part, kind, index, called))
            called += 1
        elif kind != "reasoning":
            parts.append(_part(part))
    if parts or calls or whole:
        yield Message(level=level, parts=filled(parts), tool_calls=tuple(calls))


def _part(part: Field) -> Part:
    kind = part["type"].text()
    return Text(text=part["content"].text_or("")) if kind == "text" else Opaque(kind=kind)


def _call(part: Field, kind: str, index: int, number: int) -> ToolCall:
    return ToolCall(
        id=call_id(part["id"], index, number),
        name=part["name"].text(),
        arguments=written(part[_CALLS[kind]]),
    )


def _result(part: Field, kind: str) -> Message:
    given = (part[key] for key in _RESULTS[kind])
    output = next((field for field in given if field.given), part["response"])
    return Message(
        level=Level.TOOL,
        parts=filled(output_parts(output)),
        answers=part["id"].text_or("") or None,
    )
