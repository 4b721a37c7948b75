"""Situations of this project's own conversations."""

from collections.abc import Iterable, Iterator
from random import Random

from taskshield_lab.training.authorisation.situations import (
    Made,
    Situation,
    SituationBuilder,
    conversation_situations,
)
from taskshield_lab.training.authorisation.value_swaps import OtherPeople
from taskshield_lab.training.conversations.labelled import LabelledConversation


def own_situations(
    conversations: Iterable[LabelledConversation], source: str, rng: Random
) -> Iterator[Situation]:
    """The situations of labelled conversations."""
    people = OtherPeople()
    for one in conversations:
        labels = {
            call.id: Made(
                call=call,
                asked=one.calls[call.id].aligned,
                kind=one.calls[call.id].kind,
                weight=1.0 if one.calls[call.id].aligned else 1.2,
            )
            for message in one.messages
            for call in message.tool_calls
            if call.id in one.calls
        }
        builder = SituationBuilder(source, one.tools, people, rng)
        yield from conversation_situations(one.id, one.messages, builder, labels, rng)
