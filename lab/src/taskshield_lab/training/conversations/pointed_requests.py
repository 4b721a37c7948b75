"""Finds requests in the data that the user's task leads to: a good call has a value of theirs."""

from collections.abc import Mapping
from dataclasses import replace

from taskshield.core.levels import Level
from taskshield.judges.embedded.evidence.argument_values import argument_values
from taskshield_lab.training.conversations.labelled import LabelledConversation, SpanLabel


def label_pointed_spans(conversation: LabelledConversation) -> Mapping[int, tuple[SpanLabel, ...]]:
    """The spans by message; harmless imperatives that a later good call follows are `pointed`."""
    values = _unnamed_values(conversation)

    def relabelled(number: int, span: SpanLabel) -> SpanLabel:
        text = conversation.messages[number].text[span.start : span.end]
        followed = any(later > number and value in text for later, value in values)
        return replace(span, kind="pointed") if span.kind == "benign" and followed else span

    return {
        number: tuple(relabelled(number, span) for span in conversation.spans.get(number, ()))
        for number in range(len(conversation.messages))
    }


def _unnamed_values(conversation: LabelledConversation) -> list[tuple[int, str]]:
    """Values of good calls that the user has not named, each with the number of its message."""
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
