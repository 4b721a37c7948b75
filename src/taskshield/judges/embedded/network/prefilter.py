"""Which parts of a very long output the network reads: those that look most like orders.

The prefilter only adds up weights of tokens. Each token has two, trained with the network: one
for any position, one more for the beginning of a piece, where orders have their verb.
"""

from collections.abc import Sequence
from io import BytesIO
from typing import Self

import numpy as np
from numpy.typing import NDArray

from taskshield.core import deadline
from taskshield.core.errors import ModelError
from taskshield.judges.embedded.network.encoding import Encoded

OPENING = 2
"""Tokens that count as the beginning of a piece."""


class Glance:
    """Weights of tokens: how much each suggests that words try to direct their reader."""

    def __init__(self, weights: NDArray[np.float32]) -> None:
        """Take weights, a row for each token: for any position, and for the beginning."""
        self._anywhere, self._opening = weights[:, 0], weights[:, 1]

    @classmethod
    def read(cls, content: bytes, words: int) -> Self:
        """Weights from their file.

        Args:
            content: As numpy writes it.
            words: How many tokens the tokenizer knows.

        Raises:
            ModelError: The content is malformed, or made for another tokenizer.
        """
        try:
            found = np.load(BytesIO(content), allow_pickle=False)
        except (ValueError, OSError, EOFError) as error:
            raise ModelError("The embedded model's prefilter cannot be read.") from error
        if found.shape != (words, 2) or found.dtype != np.float16 or not np.isfinite(found).all():
            raise ModelError("The embedded model's prefilter was made for another tokenizer.")
        return cls(found.astype(np.float32))

    def loudest(self, sequences: Sequence[Encoded], most: int) -> list[int]:
        """The numbers of the `most` sequences that score highest, in their order."""
        said = [-self.loudness(one) for one in sequences]
        return sorted(np.argsort(said, kind="stable")[:most].tolist())

    def loudness(self, sequence: Encoded) -> float:
        """The score of the piece of a sequence that looks most like an order."""
        deadline.check()
        places = [place for place, _ in sequence.marks]
        ends = [*places[1:], len(sequence.ids) - 1]
        pieces = (sequence.ids[place + 1 : end] for place, end in zip(places, ends, strict=True))
        return max((self._said(piece) for piece in pieces), default=-np.inf)

    def _said(self, piece: Sequence[int]) -> float:
        anywhere, opening = self._anywhere[list({*piece})], self._opening[list({*piece[:OPENING]})]
        return float(anywhere.sum() + opening.sum())
