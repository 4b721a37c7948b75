"""Which parts of a very long output are read: those that look most like orders at a glance.

At a glance, words are added up and not read. Each token has two weights, learned with the network:
one wherever it stands, one more at the beginning of a piece, where orders have their verb.
"""

from collections.abc import Sequence
from io import BytesIO
from typing import Self

import numpy as np
from numpy.typing import NDArray

from taskshield.core.errors import ModelError
from taskshield.judges.embedded.network.encoding import Encoded

OPENING = 2
"""Tokens that a piece begins with."""


class Glance:
    """Weights of tokens: how much each says that words try to direct whoever reads them."""

    def __init__(self, weights: NDArray[np.float32]) -> None:
        """Take weights, a row for each token: wherever it stands, and at the beginning."""
        self._anywhere, self._opening = weights[:, 0], weights[:, 1]

    @classmethod
    def read(cls, content: bytes, words: int) -> Self:
        """Weights from their file.

        Args:
            content: As numpy writes it.
            words: How many tokens the tokenizer knows.

        Raises:
            ModelError: It is not that, or not for this tokenizer.
        """
        try:
            found = np.load(BytesIO(content), allow_pickle=False)
        except (ValueError, OSError, EOFError) as error:
            raise ModelError("the embedded model's glance cannot be read") from error
        if found.shape != (words, 2) or found.dtype != np.float16 or not np.isfinite(found).all():
            raise ModelError("the embedded model's glance is none for its tokenizer")
        return cls(found.astype(np.float32))

    def loudest(self, sequences: Sequence[Encoded], most: int) -> list[int]:
        """The numbers of at most so many sequences of an output, in their order."""
        said = [-self.loudness(one) for one in sequences]
        return sorted(np.argsort(said, kind="stable")[:most].tolist())

    def loudness(self, sequence: Encoded) -> float:
        """How much the loudest piece of a sequence looks as if it directed its reader."""
        places = [place for place, _ in sequence.marks]
        ends = [*places[1:], len(sequence.ids) - 1]
        pieces = (sequence.ids[place + 1 : end] for place, end in zip(places, ends, strict=True))
        return max((self._said(piece) for piece in pieces), default=-np.inf)

    def _said(self, piece: Sequence[int]) -> float:
        anywhere, opening = self._anywhere[list({*piece})], self._opening[list({*piece[:OPENING]})]
        return float(anywhere.sum() + opening.sum())
