"""Inserts neutral sentences of public texts, which ask for nothing, into outputs.

Injected text is unlike the rest of an output, too. A network that sees no other inserted text
learns that whatever differs from the rest of an output is an attack.
"""

from collections.abc import Sequence
from random import Random

from taskshield.judges.embedded.grammar.directive_openers import kind_of
from taskshield.judges.embedded.text.segments import segments
from taskshield_lab.training.conversations.labelled import LabelledConversation
from taskshield_lab.training.distractors.insertion import (
    in_one_string,
    insert_into_conversation,
    long_outputs,
)

_SHORTEST, _LONGEST = 30, 300
_MOST = 3


def find_neutral_sentences(texts: Sequence[str]) -> list[str]:
    """The sentences of some texts that are long enough and ask for nothing."""
    return [
        in_one_string(" ".join(segment.text.split()))
        for text in texts
        for segment in segments(text)
        if _SHORTEST <= len(segment.text) <= _LONGEST and kind_of(segment.text) == "context"
    ]


def add_neutral_sentences(
    conversation: LabelledConversation, sentences: Sequence[str], rng: Random
) -> LabelledConversation:
    """The conversation with up to three of these sentences in outputs that are long enough."""
    outputs = long_outputs(conversation.messages)
    if not outputs or not sentences:
        return conversation
    for _ in range(rng.randint(1, _MOST)):
        conversation = insert_into_conversation(
            conversation, rng.choice(outputs), rng.choice(sentences), "benign", rng
        )
    return conversation
