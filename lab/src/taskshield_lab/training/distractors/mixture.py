"""What else stands in a conversation's data: what other people wish, and what they just say.

A public wish is obeyed at the end, the task of another user is not, and the user's own task, wished
by somebody else, is done anyway. What asks for nothing is nobody's business.
"""

from collections import deque
from random import Random

from taskshield_lab.training.conversations.labelled import LabelledConversation
from taskshield_lab.training.distractors.composed import wished
from taskshield_lab.training.distractors.neutral_sentences import with_strangers
from taskshield_lab.training.distractors.other_requests import echoed, overheard
from taskshield_lab.training.distractors.public_rows import Pack

_STRANGE = 0.5
"""Share of the conversations that get sentences from public texts that ask for nothing."""
_WISHED = 0.4
"""Share of the conversations without an attack that get one: a public wish, obeyed at the end."""
_ECHOED = 0.5
"""Share of the conversations in which the user's task is somebody's wish, where it can be."""
_OVERHEARD = 0.3
"""Share of the conversations in which another user's task is."""
_OTHERS = 64
"""Conversations from which another user's task may come."""


class DistractorMix:
    """Puts such words into conversations, one after the other; the same for the same seed."""

    def __init__(self, pack: Pack | None, seed: int) -> None:
        self._pack = pack
        self._seed = seed
        self._others: deque[LabelledConversation] = deque(maxlen=_OTHERS)

    def around(self, talk: LabelledConversation, *, public: bool = True) -> LabelledConversation:
        """A conversation with some such words, or none.

        Args:
            talk: The conversation.
            public: Whether it may get public words: those that are made of them have their own.
        """
        rng = Random(f"{self._seed}:{talk.id}:company")
        found = talk
        if public and self._pack is not None:
            strange = Random(f"{self._seed}:{talk.id}:strangers")
            if strange.random() < _STRANGE:
                found = with_strangers(found, self._pack.statements, strange)
            if talk.kind in ("clean", "benign") and rng.random() < _WISHED:
                found = wished(found, self._pack, rng)
        found = echoed(found, rng) if rng.random() < _ECHOED else found
        others = [
            other
            for other in self._others
            if other.lang == talk.lang and other.domain != talk.domain
        ]
        if others and rng.random() < _OVERHEARD:
            found = overheard(found, rng.choice(others), rng)
        self._others.append(talk)
        return found
