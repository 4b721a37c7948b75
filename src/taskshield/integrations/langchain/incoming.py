"""LangChain's messages as messages of the shield, with their privilege.

Every sender can write a `HumanMessage`: the user, a summary, other middleware, another agent, a
tool. In the input of a run it counts as the user's, unless it has LangChain's own mark for messages
that the user did not write. All messages that appear later, inside the run, are data and get that
mark.
"""

import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.messages.tool import ToolCall as LangChainCall

from taskshield.adapters.parsing.json_reader import Field, checked, filled
from taskshield.adapters.parsing.tool_output import output_parts
from taskshield.core.levels import Level
from taskshield.core.messages import Message, Opaque, Part, Text, ToolCall, text_message
from taskshield.engine.tool_functions import as_json

Block = str | dict[Any, Any]
Content = str | list[Block]
Reader = Callable[[BaseMessage], tuple[Message, ...]]
"""Reads a message; no result if the message was checked before."""

WRITTEN_BY = "lc_source"
"""LangChain's key in `additional_kwargs` for the sender of a message that is not the user's."""


def read_input(message: BaseMessage) -> tuple[Message, ...]:
    """Read a message in the input of a run."""
    if not is_authoritative(message):
        return read_inside(message)
    if isinstance(message, HumanMessage):
        return _user_messages(message)
    return (text_message(Level.SYSTEM, _text(message)),)


def is_authoritative(message: BaseMessage) -> bool:
    """Whether this counts as a message of the user or of the system."""
    by_role = isinstance(message, HumanMessage | SystemMessage)
    return by_role and WRITTEN_BY not in message.additional_kwargs


def read_inside(message: BaseMessage) -> tuple[Message, ...]:
    """Read a message that was written inside the run."""
    if isinstance(message, AIMessage):
        return (read_step(message, message.tool_calls),)
    return (read_as_output(message),)


def reader_in_tool(call: ToolCall) -> Reader:
    """A reader for an agent in a tool: its input is part of the call, or it is data."""

    def read(message: BaseMessage) -> tuple[Message, ...]:
        if isinstance(message, HumanMessage) and isinstance(message.content, str):
            quoted = as_json(message.content)[1:-1]
            if quoted in call.arguments:
                return ()  # checked together with the call
        return read_inside(message)

    return read


def read_step(message: AIMessage | None, calls: Sequence[LangChainCall]) -> Message:
    """The model's words and its open calls."""
    words = text_message(Level.ASSISTANT, "" if message is None else _text(message))
    by_id: dict[str, ToolCall] = {}
    for call in calls:  # models repeat ids; for the shield each call needs its own
        read = read_call(call)
        id = f"call_{uuid.uuid4().hex}" if read.id in by_id else read.id
        by_id[id] = replace(read, id=id)
    return replace(words, tool_calls=tuple(by_id.values()))


def read_call(call: LangChainCall) -> ToolCall:
    """A call of LangChain as a call of the shield."""
    id = "" if call["id"] is None else call["id"]
    return ToolCall(id=id, name=call["name"], arguments=as_json(call["args"]))


def read_as_output(message: BaseMessage, answers: str | None = None) -> Message:
    """Read a message as output of a tool, whatever its role is.

    Args:
        message: The message. It may contain directives of any sender.
        answers: Id of the call that it comes from, if that is known.
    """
    is_error = False
    if isinstance(message, ToolMessage):
        is_error = message.status == "error"
        answers = message.tool_call_id if answers is None else answers
    parts = _words(blocks(message.content))
    return Message(level=Level.TOOL, parts=parts, answers=answers, is_error=is_error)


def last_answer(result: Sequence[BaseMessage]) -> AIMessage | None:
    """The model's own message in the result of a model call."""
    answers = (message for message in reversed(result) if isinstance(message, AIMessage))
    return next(answers, None)


def open_calls(answer: AIMessage | None, result: Sequence[BaseMessage]) -> list[LangChainCall]:
    """The calls that are not answered. LangChain itself answers those with structured output."""
    done = {message.tool_call_id for message in result if isinstance(message, ToolMessage)}
    calls = [] if answer is None else answer.tool_calls
    return [call for call in calls if call["id"] not in done]


def messages_of(state: Any) -> Sequence[BaseMessage]:
    """The messages in the state of any graph that can have a tool node."""
    if isinstance(state, list):
        return state
    given: Sequence[BaseMessage] = state["messages"] if isinstance(state, dict) else state.messages
    return given


def before_last_answer(given: Sequence[BaseMessage]) -> Sequence[BaseMessage]:
    """The messages before the model's last answer, whose calls are running now."""
    places = [place for place, message in enumerate(given) if isinstance(message, AIMessage)]
    return given[: places[-1]] if places else given


def blocks(content: Content) -> list[Block]:
    """Content as a list of its blocks."""
    return [content] if isinstance(content, str) else content


def _user_messages(message: HumanMessage) -> tuple[Message, ...]:
    """The user's words, and the words of attachments, which are data."""
    words = text_message(Level.USER, _text(message))
    attached = _words([block for block in blocks(message.content) if not _is_text(block)])
    opaque = tuple(part for part in attached if isinstance(part, Opaque))
    message_of_user = replace(words, parts=(*words.parts, *opaque))
    if not any(isinstance(part, Text) for part in attached):
        return (message_of_user,)
    return (message_of_user, Message(level=Level.TOOL, parts=attached))


def _text(message: BaseMessage) -> str:
    """The words of a message, without hidden reasoning."""
    return str(message.text)


def _is_text(block: Block) -> bool:
    return isinstance(block, str) or block.get("type") == "text"


def _words(given: Sequence[Block]) -> tuple[Part, ...]:
    return filled(output_parts(checked(Field(value=list(given), key="content"))))
