"""OpenAI Responses: the body of a request, or just its items.

This format lists items where others have messages. Consecutive items of the assistant, texts and
calls, become one message, as in the other wire formats. A tool that the provider ran itself is a
call and its output in one item. The agent's reasoning is left out: a judge must not treat it as
fact. What an item only refers to (`item_reference`, a stored prompt, an earlier response) cannot be
read here.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from taskshield.adapters.conversations.host_text import arranged, attachment
from taskshield.adapters.conversations.response_items import (
    KNOWN,
    TOOL_LISTS,
    is_call,
    is_output,
)
from taskshield.adapters.parsing import tool_specs
from taskshield.adapters.parsing.json_reader import Field, arguments, checked, filled, part
from taskshield.adapters.parsing.tool_output import output_parts
from taskshield.core.levels import Level
from taskshield.core.messages import Conversation, Message, Opaque, Part, Text, ToolCall
from taskshield.core.tools import ToolSpec

_LEVELS = {
    "system": Level.SYSTEM,
    "developer": Level.SYSTEM,
    "user": Level.USER,
    "assistant": Level.ASSISTANT,
}
_WORDS = {"input_text": "text", "output_text": "text", "text": "text", "refusal": "refusal"}
_FILES = frozenset({"file", "input_file"})
_NAMED = frozenset({"function_call", "custom_tool_call", "mcp_call", "mcp_approval_request"})
_WRITTEN = {
    "code_interpreter_call": "code",
    "custom_tool_call": "input",
    "function_call": "arguments",
    "mcp_approval_request": "arguments",
    "mcp_call": "arguments",
    "program": "code",
    "tool_search_call": "arguments",
}
"""Where calls keep what the model wrote. Of other calls, all that is no label is an argument."""
_RESULTS = ("output", "outputs", "results", "result", "error", "reason")
"""Where items keep what a tool returned."""
_LABELS = frozenset({"id", "call_id", "approval_request_id", "type", "status", "caller", *_RESULTS})


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseTurn:
    """A message and where it came from."""

    message: Message
    item: int | None = None
    """Number of the item in `input` that it was read from, or begins with."""


def parse(payload: object) -> Conversation:
    """Read `{"instructions": ..., "input": ..., "tools": [...]}` or a bare list of items.

    Raises:
        WireFormatError: The payload is not in this format; the message names the path.
    """
    root = _root(payload)
    messages = tuple(turn.message for turn in _conversation(root))
    return Conversation(messages=messages, tools=tuple(_tools(root)))


def turns(payload: object) -> list[ResponseTurn]:
    """The messages of `parse`, each with its place in the input."""
    return _conversation(_root(payload))


def _root(payload: object) -> Field:
    body = {"input": payload} if isinstance(payload, list) else payload
    root = checked(Field(value=body, key="conversation"))
    if not isinstance(body, dict):
        raise root.wrong("an object or a list of items")
    return root


def _conversation(root: Field) -> list[ResponseTurn]:
    spoken = ((turn.message, turn.item) for turn in _spoken(root))
    return [ResponseTurn(message=message, item=item) for message, item in arranged(spoken)]


def _spoken(root: Field) -> list[ResponseTurn]:
    found: list[ResponseTurn] = []
    given = root["instructions"]
    if isinstance(given.value, str):
        words = filled((Text(text=given.value),))
        found.append(ResponseTurn(message=Message(level=Level.SYSTEM, parts=words)))
    elif given.given:
        found += (replace(turn, item=None) for turn in _turns(given.elements()))
    if isinstance(root["input"].value, str):
        words = filled((Text(text=root["input"].text()),))
        return [*found, ResponseTurn(message=Message(level=Level.USER, parts=words))]
    return [*found, *_turns(root["input"].elements())]


def _turns(items: Iterable[Field]) -> Iterator[ResponseTurn]:
    """The items' messages; what the assistant says and calls in a row is one message."""
    spoken: ResponseTurn | None = None
    for number, item in enumerate(items):
        for message in _messages(item, number):
            if message.level is Level.ASSISTANT:
                spoken = _joined(spoken, ResponseTurn(message=message, item=number))
                continue
            if spoken is not None:
                yield spoken
                spoken = None
            yield ResponseTurn(message=message, item=number)
    if spoken is not None:
        yield spoken


def _joined(before: ResponseTurn | None, turn: ResponseTurn) -> ResponseTurn:
    if before is None:
        return turn
    first, second = before.message, turn.message
    parts = (*first.parts, *second.parts)
    calls = (*first.tool_calls, *second.tool_calls)
    return replace(before, message=replace(first, parts=parts, tool_calls=calls))


def _messages(item: Field, number: int) -> Iterator[Message]:
    kind = item["type"].text_or("item_reference" if _is_reference(item) else "message")
    if kind == "message":
        level = item["role"].choice(_LEVELS)
        yield Message(level=level, parts=filled(_parts(item["content"])))
        if level is Level.USER and isinstance(item["content"].value, list):
            files = (each for each in item["content"].elements() if each["type"].value in _FILES)
            yield from (words for each in files if (words := attachment(each)) is not None)
    elif is_call(kind):
        call = _call(item, kind, number)
        yield Message(level=Level.ASSISTANT, tool_calls=(call,))
        if any(item[key].given for key in _RESULTS):
            yield _output(item, call.id)
    elif is_output(kind):
        given = ("call_id", "approval_request_id", "id")
        yield _output(item, next((item[key].text() for key in given if item[key].given), None))
    elif kind not in KNOWN:
        yield Message(level=Level.ASSISTANT, parts=(Opaque(kind=kind),))


def _is_reference(item: Field) -> bool:
    """Whether an item that does not name its type is an id and nothing else."""
    return item["id"].given and not item["role"].given


def _parts(content: Field) -> Iterator[Part]:
    if isinstance(content.value, str):
        yield Text(text=content.value)
    elif isinstance(content.value, list):
        yield from (part(element, _WORDS) for element in content.elements())
    elif content.given:
        raise content.wrong("a string or a list of parts")


def _call(item: Field, kind: str, number: int) -> ToolCall:
    if kind in _WRITTEN:
        written = item[_WRITTEN[kind]]
    else:
        rest = {key: value for key, value in item.mapping().items() if key not in _LABELS}
        written = Field(value=rest, key=item.key, parent=item.parent)
    return ToolCall(
        id=item["call_id"].text_or("") or item["id"].text_or("") or f"call_{number}",
        name=_name(item, kind),
        arguments=arguments(written),
    )


def _name(item: Field, kind: str) -> str:
    if kind not in _NAMED:
        return kind.removesuffix("_call")
    space = item["namespace"].text_or("") or item["server_label"].text_or("")
    return _qualified(space, item["name"].text())


def _qualified(space: str, name: str) -> str:
    """Tools of two servers or namespaces may share a name."""
    return f"{space}.{name}" if space else name


def _output(item: Field, answers: str | None) -> Message:
    return Message(
        level=Level.TOOL,
        parts=filled(output_parts(_returned(item))),
        answers=answers,
        is_error=item["error"].given,
    )


def _returned(item: Field) -> Field:
    """What a tool returned; in an item that holds nothing else, all members that are no labels."""
    members = item.mapping()
    names = [*_RESULTS, *members] if is_output(item["type"].value) else _RESULTS
    given = [members[name] for name in dict.fromkeys(names) if _holds_words(members, name)]
    if item["type"].value == "image_generation_call":
        given = [{"type": "image", "result": each} for each in given]
    value = given[0] if len(given) == 1 and not isinstance(given[0], str) else given
    return Field(value=value, key=item.key, parent=item.parent)


def _holds_words(members: Mapping[str, object], name: str) -> bool:
    return members.get(name) is not None and (name in _RESULTS or name not in _LABELS)


def _tools(root: Field) -> Iterator[ToolSpec]:
    yield from _specs(root["tools"], "")
    if isinstance(root["input"].value, list):
        for item in root["input"].elements():
            if item["type"].text_or("") in TOOL_LISTS:
                yield from _specs(item["tools"], item["server_label"].text_or(""))


def _specs(tools: Field, space: str) -> Iterator[ToolSpec]:
    for tool in tools.elements():
        if tool["type"].value == "namespace":
            yield from _specs(tool["tools"], tool["name"].text())
        else:
            for spec in tool_specs.read([tool]):
                yield replace(spec, name=_qualified(space, spec.name))
