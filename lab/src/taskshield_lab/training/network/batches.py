"""Sequences and token examples as columns, which cross processes fast and need no loop for a batch.

Half a million examples as objects take nearly as long to pass between processes as to make.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from taskshield.judges.embedded.network.encoding import Encoded
from taskshield_lab.training.network.labelled_tokens import TokenExample

Integers = NDArray[np.int64]

TAG = -1
"""The number of the head that tags segments."""
_TARGET = np.dtype([("head", "i1"), ("position", "i2"), ("value", "f4"), ("weight", "f4")])
"""A `Target`."""


@dataclass(frozen=True, slots=True, eq=False)
class Sequences:
    """Sequences with all their ids in one array."""

    ids: NDArray[np.uint16]
    starts: Integers
    """The start of each sequence, then the end of the last one."""
    firsts: Integers
    """Number of tokens in the first part of each sequence."""

    @classmethod
    def of(cls, encoded: Sequence[Encoded]) -> "Sequences":
        """Sequences as columns."""
        return cls(
            np.array([id for one in encoded for id in one.ids], np.uint16),
            _starts(len(one.ids) for one in encoded),
            np.array([one.types.count(0) for one in encoded], np.int64),
        )

    @property
    def sizes(self) -> Integers:
        """Number of tokens of each sequence."""
        return np.diff(self.starts)

    def batch(self, numbers: Sequence[int]) -> tuple[Integers, Integers, Integers]:
        """Ids, types and mask of some sequences, a row for each."""
        places, sizes = _within(self.starts, numbers)
        column = np.arange(sizes.max())
        mask = column < sizes[:, None]
        ids = np.zeros(mask.shape, np.int64)
        ids[mask] = self.ids[places]
        types = mask & (column >= self.firsts[numbers][:, None])
        return ids, types.astype(np.int64), mask.astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class TokenExamples:
    """Token examples with all their targets in one array."""

    sequences: Sequences
    targets: NDArray[np.void]
    """As `_TARGET`; the head is `TAG` for a target without one."""
    starts: Integers
    """The start of each example's targets, then the end of the last one's."""

    @classmethod
    def of(cls, examples: Iterable[TokenExample]) -> "TokenExamples":
        """The examples as columns."""
        whole = list(examples)
        rows = [
            (TAG if one.head is None else one.head, one.position, one.value, one.weight)
            for example in whole
            for one in example.targets
        ]
        return cls(
            Sequences.of([example.sequence for example in whole]),
            np.array(rows, _TARGET),
            _starts(len(example.targets) for example in whole),
        )

    @classmethod
    def joined(cls, parts: Iterable["TokenExamples"]) -> "TokenExamples":
        """The examples of all parts, in order."""
        found = list(parts)
        return cls(
            Sequences(
                np.concatenate([one.sequences.ids for one in found]),
                _starts(size for one in found for size in one.sequences.sizes),
                np.concatenate([one.sequences.firsts for one in found]),
            ),
            np.concatenate([one.targets for one in found]),
            _starts(size for one in found for size in np.diff(one.starts)),
        )

    def taken(self, numbers: Integers) -> "TokenExamples":
        """Some of the examples."""
        tokens, sizes = _within(self.sequences.starts, numbers)
        targets, counts = _within(self.starts, numbers)
        return TokenExamples(
            Sequences(self.sequences.ids[tokens], _starts(sizes), self.sequences.firsts[numbers]),
            self.targets[targets],
            _starts(counts),
        )

    def __len__(self) -> int:
        return len(self.starts) - 1

    def targets_of(self, numbers: Sequence[int]) -> tuple[Integers, NDArray[np.void]]:
        """The targets of some examples, each with the row of its example in the batch."""
        places, sizes = _within(self.starts, numbers)
        return np.repeat(np.arange(len(sizes)), sizes), self.targets[places]


def _starts(sizes: Iterable[int]) -> Integers:
    return np.fromiter(accumulate(sizes, initial=0), np.int64)


def _within(starts: Integers, numbers: Sequence[int] | Integers) -> tuple[Integers, Integers]:
    """The positions of all entries of these numbers, and the number of entries of each."""
    begins = starts[numbers]
    sizes = starts[np.asarray(numbers) + 1] - begins
    before = np.cumsum(sizes) - sizes
    return np.arange(sizes.sum()) + np.repeat(begins - before, sizes), sizes
