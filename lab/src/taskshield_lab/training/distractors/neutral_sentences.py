"""Sentences from elsewhere that ask for nothing, put into the outputs of a conversation.

What is planted comes from elsewhere, too. A network that sees nothing else from elsewhere learns
that whatever does not sound like the rest of an output is an attack.
"""

from collections.abc import Sequence
from random import Random

from taskshield.judges.embedded.grammar.directive_openers import kind_of
from taskshield.judges.embedded.text.segments import segments
from taskshield_lab.training.conversations.labelled import LabelledConversation
from taskshield_lab.training.distractors.insertion import in_one_string, readable, with_words

_SHORTEST, _LONGEST = 30, 300
_MOST = 3


def statements(texts: Sequence[str]) -> list[str]:
    """The sentences of some texts that are long enough to say something and ask for nothing."""
    return [
        in_one_string(" ".join(segment.text.split()))
        for text in texts
        for segment in segments(text)
        if _SHORTEST <= len(segment.text) <= _LONGEST and kind_of(segment.text) == "context"
    ]


def with_strangers(
    talk: LabelledConversation, said: Sequence[str], rng: Random
) -> LabelledConversation:
    """A conversation with up to three of these sentences in its outputs, where any can hold one."""
    outputs = readable(talk.messages)
    if not outputs or not said:
        return talk
    for _ in range(rng.randint(1, _MOST)):
        talk = with_words(talk, rng.choice(outputs), rng.choice(said), "benign", rng)
    return talk
