"""Messages after the checks: for the model, the thread and the user."""

import uuid
from collections.abc import Sequence
from typing import TypeVar, cast

from langchain.agents.middleware.human_in_the_loop import RejectDecision
from langchain_core.messages import BaseMessage, HumanMessage, ToolMessage
from langchain_core.messages.tool import ToolCall as LangChainCall

from taskshield.adapters import output_redaction
from taskshield.adapters.parsing.json_reader import Field
from taskshield.core.decisions import Decision
from taskshield.engine.feedback import annotated
from taskshield.integrations.langchain.incoming import (
    WRITTEN_BY,
    Block,
    Content,
    is_authoritative,
    last_answer,
    read_call,
)

MARK = "taskshield"
"""The key in a message's `response_metadata` for the id of the decision that changed it."""

AnyMessage = TypeVar("AnyMessage", bound=BaseMessage)


def checked_message(message: AnyMessage, decision: Decision, note: str | None = None) -> AnyMessage:
    """A message of a tool or another sender, with the content that the model may read.

    A message that has the user's role is marked, so that it does not count as the user's when a
    client sends the whole conversation again.

    Args:
        message: The original message; it is returned if nothing changes.
        decision: The decision on its words.
        note: Other feedback for the model.
    """
    content: Content = message.content
    if decision.content != decision.case.message.text:
        content = _replaced(content, decision)
    if note is not None:
        content = _with_note(content, note)
    if content is not message.content:
        message = _with_content(message, content, decision)
    if is_authoritative(message):
        kwargs = {**message.additional_kwargs, WRITTEN_BY: MARK}
        message = message.model_copy(update={"additional_kwargs": kwargs})
    return message


def checked_answer(
    result: Sequence[BaseMessage], calls: Sequence[LangChainCall], decision: Decision
) -> list[BaseMessage]:
    """The model's answer for the thread; each blocked call is answered with the feedback.

    Calls that wait for a person stay open.
    """
    if not calls and not decision.allowed:
        answer = last_answer(result)
        result = [
            _with_content(message, decision.content, decision) if message is answer else message
            for message in result
        ]
    blocked = [
        blocked_result(call, decision)
        for call, verdict in zip(calls, decision.calls, strict=True)
        if not verdict.allowed and verdict.action != "escalate"
    ]
    return [with_id(message) for message in (*result, *blocked)]


def blocked_result(
    call: LangChainCall, decision: Decision, rejected: RejectDecision | None = None
) -> ToolMessage:
    """The result of a call that a decision or a person has blocked."""
    return ToolMessage(
        content=decision.content if rejected is None else _rejection(rejected),
        name=call["name"],
        tool_call_id=read_call(call).id,
        status="error",
        id=str(uuid.uuid4()),
        response_metadata={MARK: decision.id},
    )


def feedback_message(decision: Decision) -> HumanMessage:
    """The feedback that the model gets before it tries again."""
    return HumanMessage(decision.content, additional_kwargs={WRITTEN_BY: MARK})


def with_id(message: AnyMessage) -> AnyMessage:
    """The message with an id, by which the thread recognizes it later."""
    if message.id is not None:
        return message
    return message.model_copy(update={"id": str(uuid.uuid4())})


def is_marked(message: BaseMessage) -> bool:
    """Whether its content was checked before, in a thread whose state is lost."""
    return MARK in message.response_metadata


def _replaced(content: Content, decision: Decision) -> Content:
    if isinstance(content, str):
        return decision.content
    if decision.action == "withhold":
        return [_text_block(decision.content)]
    if decision.action == "redact":
        content = _redacted(content, decision)
    return _with_note(content, output_redaction.note(decision))


def _redacted(blocks: list[Block], decision: Decision) -> list[Block]:
    words = Field(value=blocks, key="content")
    return cast(list[Block], output_redaction.redacted(words, decision))


def _with_note(content: Content, note: str) -> Content:
    return annotated(content, note) if isinstance(content, str) else [*content, _text_block(note)]


def _text_block(text: str) -> Block:
    return {"type": "text", "text": text}


def _with_content(message: AnyMessage, content: Content, decision: Decision) -> AnyMessage:
    metadata = {**message.response_metadata, MARK: decision.id}
    return message.model_copy(update={"content": content, "response_metadata": metadata})


def _rejection(rejected: RejectDecision) -> str:
    text = "A person did not approve this call. It was not carried out."
    reason = rejected.get("message")
    return text if reason is None else f"{text} They said: {reason}"
