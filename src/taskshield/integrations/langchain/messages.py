"""LangChain's messages as the shield reads them, and with whose privilege.

Anybody can write a `HumanMessage`: the user, a summary, other middleware, another agent, a tool.
What a run is given speaks for itself, unless it carries LangChain's own mark of a message that the
user did not write. All that appears later, inside the run, is data, and gets that mark.
"""

import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.messages.tool import ToolCall as LangChainCall

from taskshield.adapters.parsing.json_reader import Field, checked, filled
from taskshield.adapters.parsing.tool_output import words_of
from taskshield.core.levels import Level
from taskshield.core.messages import Message, Opaque, Part, Text, ToolCall, text_message
from taskshield.engine.tool_functions import as_json

Block = str | dict[Any, Any]
Content = str | list[Block]
Reader = Callable[[BaseMessage], tuple[Message, ...]]
"""What a message says; nothing where it was checked already."""

WRITTEN_BY = "lc_source"
"""In `additional_kwargs`: who wrote a message that the user did not write, as LangChain has it."""

_MEDIA = frozenset({"base64", "file", "image_url", "input_audio", "video_url"})
"""Members of a content block that hold no words, though they may be long."""
_LABELS = frozenset({"mime_type"})
_MEDIA_KINDS = frozenset({"audio", "file", "image", "video"})
"""Blocks whose address is nothing to read either; it may hold the whole file."""


def read_given(message: BaseMessage) -> tuple[Message, ...]:
    """Read a message that a run was given."""
    if not is_authoritative(message):
        return read_inside(message)
    if isinstance(message, HumanMessage):
        return _spoken(message)
    return (text_message(Level.SYSTEM, _text(message)),)


def is_authoritative(message: BaseMessage) -> bool:
    """Whether this passes for a message of the user or of the system."""
    by_role = isinstance(message, HumanMessage | SystemMessage)
    return by_role and WRITTEN_BY not in message.additional_kwargs


def read_inside(message: BaseMessage) -> tuple[Message, ...]:
    """Read a message that somebody inside the run has written."""
    if isinstance(message, AIMessage):
        return (step(message, message.tool_calls),)
    return (data(message),)


def reader_within(call: ToolCall) -> Reader:
    """For an agent that runs as a tool: what it is told was said in the call, or is data."""

    def read(message: BaseMessage) -> tuple[Message, ...]:
        if isinstance(message, HumanMessage) and isinstance(message.content, str):
            quoted = as_json(message.content)[1:-1]
            if quoted in call.arguments:
                return ()  # checked when the call was
        return read_inside(message)

    return read


def step(message: AIMessage | None, calls: Sequence[LangChainCall]) -> Message:
    """What the model says, and those of its calls that are to be carried out."""
    words = text_message(Level.ASSISTANT, "" if message is None else _text(message))
    apart: dict[str, ToolCall] = {}
    for call in calls:  # models repeat ids; between us and the shield each call has its own
        read = read_call(call)
        id = f"call_{uuid.uuid4().hex}" if read.id in apart else read.id
        apart[id] = replace(read, id=id)
    return replace(words, tool_calls=tuple(apart.values()))


def read_call(call: LangChainCall) -> ToolCall:
    """A call as the shield takes it."""
    id = "" if call["id"] is None else call["id"]
    return ToolCall(id=id, name=call["name"], arguments=as_json(call["args"]))


def data(message: BaseMessage, answers: str | None = None) -> Message:
    """A message as output of a tool, whatever it calls itself.

    Args:
        message: What may hold directives of anybody.
        answers: Id of the call that it comes from, where that is known.
    """
    is_error = False
    if isinstance(message, ToolMessage):
        is_error = message.status == "error"
        answers = message.tool_call_id if answers is None else answers
    parts = _words(blocks(message.content))
    return Message(level=Level.TOOL, parts=parts, answers=answers, is_error=is_error)


def last_words(result: Sequence[BaseMessage]) -> AIMessage | None:
    """The model's own message in what a model call gave."""
    said = (message for message in reversed(result) if isinstance(message, AIMessage))
    return next(said, None)


def open_calls(said: AIMessage | None, result: Sequence[BaseMessage]) -> list[LangChainCall]:
    """The calls to be carried out; LangChain itself answers those that give a structured answer."""
    done = {message.tool_call_id for message in result if isinstance(message, ToolMessage)}
    calls = [] if said is None else said.tool_calls
    return [call for call in calls if call["id"] not in done]


def messages_of(state: Any) -> Sequence[BaseMessage]:
    """The messages in the state of any graph that a tool node can work in."""
    if isinstance(state, list):
        return state
    given: Sequence[BaseMessage] = state["messages"] if isinstance(state, dict) else state.messages
    return given


def before_answer(given: Sequence[BaseMessage]) -> Sequence[BaseMessage]:
    """What was said before the model made the calls that are running now."""
    places = [place for place, message in enumerate(given) if isinstance(message, AIMessage)]
    return given[: places[-1]] if places else given


def blocks(content: Content) -> list[Block]:
    """Content as a list of its blocks."""
    return [content] if isinstance(content, str) else content


def readable(block: Block) -> Block:
    """The part of a block that words are read from."""
    if isinstance(block, str):
        return block
    unread = _LABELS | _media(block)
    return {key: value for key, value in block.items() if key not in unread}


def _spoken(message: HumanMessage) -> tuple[Message, ...]:
    """The words of the user, and the words of what came with them, which are data."""
    words = text_message(Level.USER, _text(message))
    attached = _words([block for block in blocks(message.content) if not _is_text(block)])
    opaque = tuple(part for part in attached if isinstance(part, Opaque))
    said = replace(words, parts=(*words.parts, *opaque))
    if not any(isinstance(part, Text) for part in attached):
        return (said,)
    return (said, Message(level=Level.TOOL, parts=attached))


def _text(message: BaseMessage) -> str:
    """What is said in a message; a model's hidden reasoning is not."""
    return str(message.text)


def _is_text(block: Block) -> bool:
    return isinstance(block, str) or block.get("type") == "text"


def _words(given: Sequence[Block]) -> tuple[Part, ...]:
    words = words_of(checked(Field(value=[readable(block) for block in given], key="content")))
    media = [
        Opaque(kind=str(block.get("type")))
        for block in given
        if isinstance(block, dict) and _media(block)
    ]
    return (*filled(words), *media)


def _media(block: dict[Any, Any]) -> set[Any]:
    """The members of a block that hold no words."""
    held = _MEDIA.intersection(block)
    return {*held, "url"} if block.get("type") in _MEDIA_KINDS and "url" in block else {*held}
