"""Requests in the data that the user's task leads to: a good call takes a value from them."""

from collections.abc import Mapping
from dataclasses import replace

from taskshield.core.levels import Level
from taskshield.judges.embedded.evidence.argument_values import argument_values
from taskshield_lab.training.conversations.labelled import LabelledConversation, SpanLabel


def with_pointed(conversation: LabelledConversation) -> Mapping[int, tuple[SpanLabel, ...]]:
    """The spans by message; harmless imperatives that a later good call follows are `pointed`."""
    taken = _taken(conversation)

    def told_apart(number: int, span: SpanLabel) -> SpanLabel:
        words = conversation.messages[number].text[span.start : span.end]
        followed = any(later > number and value in words for later, value in taken)
        return replace(span, kind="pointed") if span.kind == "benign" and followed else span

    return {
        number: tuple(told_apart(number, span) for span in conversation.spans.get(number, ()))
        for number in range(len(conversation.messages))
    }


def _taken(conversation: LabelledConversation) -> list[tuple[int, str]]:
    """Values of good calls that the user has not named, each with its message's number."""
    named = ""
    found = []
    for number, message in enumerate(conversation.messages):
        if message.level is Level.USER:
            named += message.text
        for call in message.tool_calls:
            if conversation.calls[call.id].aligned:
                found += [
                    (number, value.text)
                    for value in argument_values(call)
                    if not value.trivial and value.text not in named
                ]
    return found
