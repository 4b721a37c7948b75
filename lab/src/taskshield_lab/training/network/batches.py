"""Sequences and lessons as columns: they cross processes in one piece, and no loop makes a batch.

Half a million lessons as objects take nearly as long to hand from process to process as to make.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from taskshield.judges.embedded.network.encoding import Encoded
from taskshield_lab.training.network.labelled_tokens import TokenExample

Numbers = NDArray[np.int64]

TAG = -1
"""Stands for the head that tags segments."""
_ANSWER = np.dtype([("head", "i1"), ("place", "i2"), ("right", "f4"), ("weight", "f4")])
"""An `Answer`."""


@dataclass(frozen=True, slots=True, eq=False)
class Sequences:
    """Many sequences, their ids one behind the other."""

    ids: NDArray[np.uint16]
    starts: Numbers
    """Where each begins, and behind them where the last one ends."""
    firsts: Numbers
    """How many tokens of each belong to its first part."""

    @classmethod
    def of(cls, encoded: Sequence[Encoded]) -> "Sequences":
        """Sequences as columns."""
        return cls(
            np.array([id for one in encoded for id in one.ids], np.uint16),
            _starts(len(one.ids) for one in encoded),
            np.array([one.types.count(0) for one in encoded], np.int64),
        )

    @property
    def sizes(self) -> Numbers:
        """How many tokens each has."""
        return np.diff(self.starts)

    def batch(self, numbers: Sequence[int]) -> tuple[Numbers, Numbers, Numbers]:
        """Ids, types and mask of some of them, a row for each."""
        places, sizes = _within(self.starts, numbers)
        column = np.arange(sizes.max())
        mask = column < sizes[:, None]
        ids = np.zeros(mask.shape, np.int64)
        ids[mask] = self.ids[places]
        types = mask & (column >= self.firsts[numbers][:, None])
        return ids, types.astype(np.int64), mask.astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class TokenExamples:
    """Many lessons."""

    sequences: Sequences
    answers: NDArray[np.void]
    """One behind the other, as `_ANSWER`; `TAG` where an answer names no head."""
    starts: Numbers
    """Where those of each lesson begin, and behind them where the last one's end."""

    @classmethod
    def of(cls, lessons: Iterable[TokenExample]) -> "TokenExamples":
        """Lessons as columns."""
        whole = list(lessons)
        rows = [
            (TAG if one.head is None else one.head, one.place, one.right, one.weight)
            for lesson in whole
            for one in lesson.answers
        ]
        return cls(
            Sequences.of([lesson.sequence for lesson in whole]),
            np.array(rows, _ANSWER),
            _starts(len(lesson.answers) for lesson in whole),
        )

    @classmethod
    def joined(cls, parts: Iterable["TokenExamples"]) -> "TokenExamples":
        """The lessons of all parts, in their order."""
        found = list(parts)
        return cls(
            Sequences(
                np.concatenate([one.sequences.ids for one in found]),
                _starts(size for one in found for size in one.sequences.sizes),
                np.concatenate([one.sequences.firsts for one in found]),
            ),
            np.concatenate([one.answers for one in found]),
            _starts(size for one in found for size in np.diff(one.starts)),
        )

    def __len__(self) -> int:
        return len(self.starts) - 1

    def answers_in(self, numbers: Sequence[int]) -> tuple[Numbers, NDArray[np.void]]:
        """The answers of some lessons, each with the row that its lesson has in their batch."""
        places, sizes = _within(self.starts, numbers)
        return np.repeat(np.arange(len(sizes)), sizes), self.answers[places]


def _starts(sizes: Iterable[int]) -> Numbers:
    return np.fromiter(accumulate(sizes, initial=0), np.int64)


def _within(starts: Numbers, numbers: Sequence[int]) -> tuple[Numbers, Numbers]:
    """The places of all that belongs to these numbers, and how much belongs to each."""
    begins = starts[numbers]
    sizes = starts[np.asarray(numbers) + 1] - begins
    before = np.cumsum(sizes) - sizes
    return np.arange(sizes.sum()) + np.repeat(begins - before, sizes), sizes
