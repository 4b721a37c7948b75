from random import Random

import numpy as np
import pytest

from taskshield.judges.embedded.network.encoding import Encoded
from taskshield_lab.training.network.batches import TAG, Sequences, TokenExamples
from taskshield_lab.training.network.labelled_tokens import Target, TokenExample


def examples(seed: int, count: int = 30) -> list[TokenExample]:
    rng = Random(seed)
    made = []
    for _ in range(count):
        first, second = rng.randint(1, 9), rng.randint(1, 9)
        made.append(
            TokenExample(
                sequence=Encoded(
                    ids=[rng.randrange(2**16) for _ in range(first + second)],
                    types=[0] * first + [1] * second,
                ),
                targets=tuple(
                    Target(
                        head=rng.choice((None, 0, 1)),
                        position=rng.randrange(256),
                        value=float(rng.randrange(2)),
                        weight=rng.choice((0.5, 1.0, 1.5)),
                    )
                    for _ in range(rng.randint(0, 4))
                ),
            )
        )
    return made


@pytest.mark.parametrize("numbers", [[0], [29], [7, 3, 3, 19], range(30)])
def test_a_batch_has_the_sequences_in_the_given_order(
    numbers: list[int],
) -> None:
    whole = [example.sequence for example in examples(1)]
    ids, types, mask = Sequences.of(whole).batch(numbers)
    width = max(len(whole[number].ids) for number in numbers)
    for row, number in enumerate(numbers):
        rest = [0] * (width - len(whole[number].ids))
        assert ids[row].tolist() == whole[number].ids + rest
        assert types[row].tolist() == whole[number].types + rest
        assert mask[row].tolist() == [1] * len(whole[number].ids) + rest
    assert len(ids) == len(numbers)


@pytest.mark.parametrize("numbers", [[0], [5, 2, 2, 28], range(30)])
def test_targets_come_with_the_rows_of_their_examples(numbers: list[int]) -> None:
    whole = examples(2)
    rows, answers = TokenExamples.of(whole).targets_of(numbers)
    expected = [
        (row, TAG if one.head is None else one.head, one.position, one.value, one.weight)
        for row, number in enumerate(numbers)
        for one in whole[number].targets
    ]
    assert [(row, *one) for row, one in zip(rows.tolist(), answers.tolist(), strict=True)] == (
        expected
    )


def test_parts_joined_are_what_would_have_been_packed_at_once() -> None:
    parts = [examples(3, 5), [], examples(4, 1), examples(5, 12)]
    joined = TokenExamples.joined(map(TokenExamples.of, parts))
    whole = TokenExamples.of([example for part in parts for example in part])
    assert len(joined) == len(whole) == 18
    for one, other in (
        (joined.sequences.ids, whole.sequences.ids),
        (joined.sequences.starts, whole.sequences.starts),
        (joined.sequences.firsts, whole.sequences.firsts),
        (joined.targets, whole.targets),
        (joined.starts, whole.starts),
    ):
        assert np.array_equal(one, other)
        assert one.dtype == other.dtype


def test_an_id_that_has_no_room_is_refused() -> None:
    with pytest.raises(OverflowError):
        Sequences.of([Encoded(ids=[2**16], types=[0])])
