"""Conversations in a form that tests can write down."""

from taskshield.core.messages import Conversation

Told = tuple[str, str, tuple[str, ...], str | None]
"""Level, words, calls, and the call that is answered."""


def told(conversation: Conversation) -> list[Told]:
    return [
        (
            message.level.value,
            message.text,
            tuple(call.described() for call in message.tool_calls),
            message.answers,
        )
        for message in conversation.messages
    ]
