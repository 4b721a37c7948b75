"""Conversations in a form that tests can write down."""

from taskshield.core.messages import Conversation

MessageTuple = tuple[str, str, tuple[str, ...], str | None]
"""Level, words, calls, and the call that is answered."""


def as_tuples(conversation: Conversation) -> list[MessageTuple]:
    return [
        (
            message.level.value,
            message.text,
            tuple(call.describe() for call in message.tool_calls),
            message.answers,
        )
        for message in conversation.messages
    ]


# A user, a call, its output and an answer, as messages of OpenAI's and as they should be read.
DONE: list[MessageTuple] = [
    ("user", "Summarise my newest mail.", (), None),
    ("assistant", "", ('read_mail({"folder": "in"})',), None),
    ("tool", "Lunch on Friday?", (), "c1"),
    ("assistant", "Lunch on Friday.", (), None),
]
TASK = {"role": "user", "content": DONE[0][1]}
FUNCTION = {"name": "read_mail", "arguments": '{"folder": "in"}'}
CALL = {"role": "assistant", "content": None} | {
    "tool_calls": [{"id": "c1", "type": "function", "function": FUNCTION}]
}
OUTPUT = {"role": "tool", "tool_call_id": "c1", "content": "Lunch on Friday?"}
ANSWER = {"role": "assistant", "content": "Lunch on Friday."}
