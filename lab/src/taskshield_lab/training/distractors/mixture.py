"""Decides which distractors each conversation gets.

The agent obeys a public request at the end. It ignores the task of another user, and it does the
user's own task, which a third party asks for as well, anyway. Neutral sentences ask for nothing.
"""

from collections import deque
from random import Random

from taskshield_lab.training.conversations.labelled import LabelledConversation
from taskshield_lab.training.distractors.neutral_sentences import add_neutral_sentences
from taskshield_lab.training.distractors.other_requests import add_other_request, add_same_request
from taskshield_lab.training.distractors.public_conversations import add_obeyed_request
from taskshield_lab.training.distractors.public_rows import PublicRows

_NEUTRAL = 0.5
"""Share of the conversations that get neutral sentences from public texts."""
_PUBLIC = 0.4
"""Share of the conversations without an attack that get a public one, obeyed at the end."""
_SAME = 0.5
"""Share of the conversations in which a third party asks for the user's task, if possible."""
_OTHER = 0.3
"""Share of the conversations in which a third party asks for another user's task."""
_OTHERS = 64
"""Number of latest conversations whose tasks may be inserted."""


class DistractorMix:
    """Adds distractors to conversations one after the other, the same ones for the same seed."""

    def __init__(self, public_rows: PublicRows | None, seed: int) -> None:
        self._public_rows = public_rows
        self._seed = seed
        self._others: deque[LabelledConversation] = deque(maxlen=_OTHERS)

    def add_distractors(
        self, conversation: LabelledConversation, *, public: bool = True
    ) -> LabelledConversation:
        """The conversation with some distractors, or none.

        Args:
            conversation: The conversation.
            public: Whether it may get public texts; public conversations have their own.
        """
        # The words in the seeds stay: they decide which distractors a conversation gets.
        rng = Random(f"{self._seed}:{conversation.id}:company")
        found = conversation
        if public and self._public_rows is not None:
            neutral_rng = Random(f"{self._seed}:{conversation.id}:strangers")
            if neutral_rng.random() < _NEUTRAL:
                found = add_neutral_sentences(
                    found, self._public_rows.neutral_sentences, neutral_rng
                )
            if conversation.kind in ("clean", "benign") and rng.random() < _PUBLIC:
                found = add_obeyed_request(found, self._public_rows, rng)
        found = add_same_request(found, rng) if rng.random() < _SAME else found
        others = [
            other
            for other in self._others
            if other.lang == conversation.lang and other.domain != conversation.domain
        ]
        if others and rng.random() < _OTHER:
            found = add_other_request(found, rng.choice(others), rng)
        self._others.append(conversation)
        return found
