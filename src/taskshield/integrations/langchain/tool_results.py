"""Results of tools: a message, a command that adds messages, or a list of these."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, cast

from langchain_core.messages import BaseMessage, ToolMessage, convert_to_messages
from langgraph.types import Command

from taskshield.core.messages import ToolCall
from taskshield.integrations.langchain.thread_state import PRIVATE_KEYS

ToolResult = ToolMessage | Command[Any]
"""LangChain's own type. It omits lists, but tools return them."""


def messages_in(result: object) -> list[BaseMessage]:
    """All messages of a result, in order."""
    if isinstance(result, ToolMessage):
        return [result]
    if isinstance(result, list):
        return [message for item in result for message in messages_in(item)]
    return convert_to_messages(_added(result.update)) if isinstance(result, Command) else []


def result_of(call: ToolCall, messages: Sequence[BaseMessage]) -> ToolMessage | None:
    """The message with the result of the call."""
    answers = (message for message in messages if isinstance(message, ToolMessage))
    return next((message for message in answers if message.tool_call_id == call.id), None)


def with_messages(result: object, messages: Iterator[BaseMessage]) -> object:
    """The result with these messages instead of its own, and without the shield's own keys."""
    if isinstance(result, ToolMessage):
        return next(messages)
    if isinstance(result, list):
        return [with_messages(item, messages) for item in result]
    if not isinstance(result, Command):
        return result
    own = [next(messages) for _ in _added(result.update)]
    if not isinstance(result.update, dict):
        return replace(result, update=own) if own else result
    update = {key: value for key, value in result.update.items() if key not in PRIVATE_KEYS}
    return replace(result, update={**update, "messages": own} if own else update)


def with_update(result: object, update: dict[str, Any]) -> ToolResult:
    """The result together with an update of the state of the same graph.

    A command for another graph is returned unchanged: that graph has no data of the shield.
    """
    if isinstance(result, ToolMessage):
        return Command(update={"messages": [result], **update})
    if isinstance(result, list):
        return cast(ToolResult, [*result, Command(update=update)])
    command = cast(Command[Any], result)
    if command.graph is None and isinstance(command.update, dict):
        return replace(command, update={**command.update, **update})
    return command


def _added(update: object) -> list[Any]:
    """The messages in an update of a state: under a key, or the update is a list of them."""
    messages = update.get("messages") if isinstance(update, dict) else update
    return messages if isinstance(messages, list) else []
