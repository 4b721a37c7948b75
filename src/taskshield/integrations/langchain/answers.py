"""Messages as they go on: to the model, into the thread, to the user."""

import uuid
from collections.abc import Sequence
from typing import Any, TypeVar, cast

from langchain.agents.middleware.human_in_the_loop import RejectDecision
from langchain_core.messages import BaseMessage, HumanMessage, ToolMessage
from langchain_core.messages.tool import ToolCall as LangChainCall

from taskshield.adapters import output_redaction
from taskshield.adapters.parsing.json_reader import Field
from taskshield.core.decisions import Decision
from taskshield.engine.feedback import annotated
from taskshield.integrations.langchain.messages import (
    WRITTEN_BY,
    Block,
    Content,
    is_authoritative,
    last_words,
    read_call,
    readable,
)

MARK = "taskshield"
"""In a message's `response_metadata`: id of the decision that wrote or changed its content."""

AnyMessage = TypeVar("AnyMessage", bound=BaseMessage)


def passed(message: AnyMessage, decision: Decision, note: str | None = None) -> AnyMessage:
    """What a tool or somebody else wrote, as the model may read it.

    One in the name of the user is marked as what it is, so that it is not taken for the user's when
    somebody sends the whole conversation again.

    Args:
        message: As it was written; the very same comes back where nothing is changed.
        decision: On its words.
        note: Something else that the model is to be told.
    """
    content: Content = message.content
    if decision.content != decision.case.message.text:
        content = _instead(content, decision)
    if note is not None:
        content = _followed(content, note)
    if content is not message.content:
        message = _rewritten(message, content, decision)
    if is_authoritative(message):
        kwargs = {**message.additional_kwargs, WRITTEN_BY: MARK}
        message = message.model_copy(update={"additional_kwargs": kwargs})
    return message


def answered(
    result: Sequence[BaseMessage], calls: Sequence[LangChainCall], decision: Decision
) -> list[BaseMessage]:
    """The model's answer as it goes into the thread, each refused call with its feedback.

    Calls that wait for a person stay open.
    """
    if not calls and not decision.allowed:
        said = last_words(result)
        result = [
            _rewritten(message, decision.content, decision) if message is said else message
            for message in result
        ]
    refusals = [
        refusal(call, decision)
        for call, verdict in zip(calls, decision.calls, strict=True)
        if not verdict.allowed and verdict.action != "escalate"
    ]
    return [named(message) for message in (*result, *refusals)]


def refusal(
    call: LangChainCall, decision: Decision, rejected: RejectDecision | None = None
) -> ToolMessage:
    """The answer to a call that does not run, because of the decision or of a person."""
    return ToolMessage(
        content=decision.content if rejected is None else _rejection(rejected),
        name=call["name"],
        tool_call_id=read_call(call).id,
        status="error",
        id=str(uuid.uuid4()),
        response_metadata={MARK: decision.id},
    )


def feedback(decision: Decision) -> HumanMessage:
    """Tells the model why it is asked again."""
    return HumanMessage(decision.content, additional_kwargs={WRITTEN_BY: MARK})


def named(message: AnyMessage) -> AnyMessage:
    """The message with an id, by which it is known when it is met again."""
    if message.id is not None:
        return message
    return message.model_copy(update={"id": str(uuid.uuid4())})


def is_marked(message: BaseMessage) -> bool:
    """Whether its content went through here already, in a thread that nobody remembers."""
    return MARK in message.response_metadata


def _instead(content: Content, decision: Decision) -> Content:
    if isinstance(content, str):
        return decision.content
    if decision.action == "withhold":
        return [_text_block(decision.content)]
    if decision.action == "redact":
        content = _redacted(content, decision)
    return _followed(content, output_redaction.note(decision))


def _redacted(blocks: list[Block], decision: Decision) -> list[Block]:
    words = Field(value=[readable(block) for block in blocks], key="content")
    cleaned = cast(list[Any], output_redaction.redacted(words, decision))
    return [
        {**block, **clean} if isinstance(block, dict) else clean
        for block, clean in zip(blocks, cleaned, strict=True)
    ]


def _followed(content: Content, note: str) -> Content:
    return annotated(content, note) if isinstance(content, str) else [*content, _text_block(note)]


def _text_block(text: str) -> Block:
    return {"type": "text", "text": text}


def _rewritten(message: AnyMessage, content: Content, decision: Decision) -> AnyMessage:
    metadata = {**message.response_metadata, MARK: decision.id}
    return message.model_copy(update={"content": content, "response_metadata": metadata})


def _rejection(rejected: RejectDecision) -> str:
    told = "A person was asked, and did not approve this call. It was not carried out."
    reason = rejected.get("message")
    return told if reason is None else f"{told} They said: {reason}"
