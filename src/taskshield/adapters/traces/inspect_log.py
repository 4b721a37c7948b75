"""Samples of Inspect's evaluation logs: one conversation each.

Messages are those of OpenAI's chat completions, but for calls without a function around them, tools
that the provider ran itself as blocks of the content, and long content that stands apart as an
attachment. Only the messages that a sample ended with are read: what an agent said to others or
forgot on the way is in the events, which are not.
"""

from collections.abc import Iterator

from taskshield.adapters.parsing import tool_specs
from taskshield.adapters.parsing.json_reader import Field, call_id, filled
from taskshield.adapters.parsing.tool_output import output_parts
from taskshield.adapters.traces.message_parts import written
from taskshield.core.levels import Level
from taskshield.core.messages import Conversation, Message, Opaque, Part, Text, ToolCall
from taskshield.core.tools import ToolSpec

_LEVELS = {level.value: level for level in Level}
_REFERENCES = ("attachment://", "tc://")
"""How a text that stands apart is referred to; the second is an older way."""


def is_log(payload: object) -> bool:
    """Whether this is a whole log."""
    return isinstance(payload, dict) and isinstance(payload.get("eval"), dict)


def is_sample(payload: object) -> bool:
    """Whether this is a sample by itself."""
    return isinstance(payload, dict) and {"id", "epoch", "messages"} <= payload.keys()


def samples(log: Field) -> Iterator[Field]:
    """The samples of a log."""
    return log["samples"].elements()


def name(sample: Field) -> str:
    """What a sample is called: its id and which time it was run."""
    return f"{sample['id'].value}/{sample['epoch'].value}"


def parse(sample: Field) -> Conversation:
    """Read a sample.

    Raises:
        WireFormatError: It is not a sample; the message names the path.
    """
    attachments = sample["attachments"]
    apart = attachments if attachments.given else Field(value={}, key="attachments")
    messages: list[Message] = []
    for index, message in enumerate(sample["messages"].elements()):
        messages.extend(_messages(message, index, apart))
    return Conversation(messages=tuple(messages), tools=_tools(sample))


def _messages(message: Field, index: int, apart: Field) -> Iterator[Message]:
    level = message["role"].choice(_LEVELS)
    if level is Level.TOOL:
        yield _output(message, apart)
        return
    parts: list[Part] = []
    for block in _blocks(message["content"]):
        kind = block["type"].text()
        if kind == "tool_use":
            yield from _server_run(block, level, parts, index)
            parts = []
        elif kind != "reasoning":
            parts.append(_part(block, apart))
    calls = tuple(_calls(message, index))
    yield Message(level=level, parts=filled(parts), tool_calls=calls)


def _output(message: Field, apart: Field) -> Message:
    error = message["error"]
    words = tuple(filled(_part(block, apart) for block in _blocks(message["content"])))
    if error.given and not words:
        words = filled(output_parts(error["message"]))
    return Message(
        level=Level.TOOL,
        parts=words,
        answers=message["tool_call_id"].text_or("") or None,
        is_error=error.given,
    )


def _server_run(block: Field, level: Level, said: list[Part], index: int) -> Iterator[Message]:
    """A tool that the provider ran: a call and its output at once."""
    call = ToolCall(
        id=call_id(block["id"], index, 0),
        name=block["name"].text(),
        arguments=written(block["arguments"]),
    )
    yield Message(level=level, parts=filled(said), tool_calls=(call,))
    output = (*output_parts(block["result"]), *output_parts(block["error"]))
    failed = block["error"].given
    yield Message(level=Level.TOOL, parts=filled(output), answers=call.id, is_error=failed)


def _blocks(content: Field) -> Iterator[Field]:
    if isinstance(content.value, str):
        block = {"type": "text", "text": content.value}
        return iter((Field(value=block, key=content.key, parent=content.parent),))
    return content.elements()


def _part(block: Field, apart: Field) -> Part:
    kind = block["type"].text()
    if kind != "text":
        return Opaque(kind=kind)
    text = block["text"].text()
    for reference in _REFERENCES:
        if text.startswith(reference):
            return Text(text=apart[text.removeprefix(reference)].text_or(text))
    return Text(text=text)


def _calls(message: Field, index: int) -> Iterator[ToolCall]:
    for number, call in enumerate(message["tool_calls"].elements()):
        yield ToolCall(
            id=call_id(call["id"], index, number),
            name=call["function"].text(),
            arguments=written(call["arguments"]),
        )


def _tools(sample: Field) -> tuple[ToolSpec, ...]:
    """The tools of the first call of a model that had any."""
    for event in sample["events"].elements():
        if event["event"].value == "model" and event["tools"].value:
            return tool_specs.read(event["tools"].elements())
    return ()
