from io import BytesIO

import numpy as np
import pytest
from numpy.typing import NDArray

from taskshield.core.errors import ModelError
from taskshield.judges.embedded.network.encoding import Encoded, load_tokenizer, output_ids
from taskshield.judges.embedded.network.prefilter import Glance
from tests.judges.embedded import tiny_model

TOKENIZER = load_tokenizer(tiny_model.tokenizer().to_str().encode())
COUNT = len(tiny_model.WORDS)
NUMBERS = {word: number for number, word in enumerate(tiny_model.WORDS)}


def weights(**words: tuple[float, float]) -> NDArray[np.float32]:
    """Weights of some words, anywhere and at the beginning; the others say nothing."""
    found = np.zeros((COUNT, 2), np.float32)
    for word, both in words.items():
        found[NUMBERS[word]] = both
    return found


def windows(*pieces: str, head: str = "") -> list[Encoded]:
    return list(output_ids(TOKENIZER, head, pieces))


def loudness(glance: Glance, *pieces: str) -> float:
    (one,) = windows(*pieces)
    return glance.loudness(one)


def test_the_loudest_piece_of_a_window_counts() -> None:
    glance = Glance(weights(valve=(2, 0), pump=(-1, 0)))
    assert loudness(glance, "a b c valve", "a valve pump") == 2
    assert loudness(glance, "pump a") == -1
    assert loudness(glance, "pump", "a") == 0


def test_a_word_counts_once_and_more_where_a_piece_begins() -> None:
    glance = Glance(weights(valve=(2, 5)))
    assert loudness(glance, "a b valve valve") == 2
    assert loudness(glance, "a valve valve") == 7
    assert loudness(glance, "valve valve a") == 7


def test_neither_the_heading_nor_a_piece_read_before_counts() -> None:
    glance = Glance(weights(valve=(2, 0)))
    (one,) = windows("a b", head="valve")
    assert glance.loudness(one) == 0
    first, second = windows("a " * 90, "valve " + "b " * 90, "c " * 90)
    assert NUMBERS["valve"] in second.ids
    assert [glance.loudness(one) for one in (first, second)] == [2, 0]


def test_the_loudest_windows_come_in_their_order() -> None:
    glance = Glance(weights(valve=(2, 0), pump=(1, 0)))
    found = [one for text in ("pump", "a", "valve", "b", "pump") for one in windows(text)]
    assert glance.loudest(found, 2) == [0, 2]
    assert glance.loudest(found, 4) == [0, 1, 2, 4]
    assert glance.loudest(found, 9) == [0, 1, 2, 3, 4]


def written(array: NDArray[np.generic]) -> bytes:
    file = BytesIO()
    np.save(file, array)
    return file.getvalue()


def test_weights_are_read_from_a_file() -> None:
    content = written(weights(valve=(2, 5)).astype(np.float16))
    assert loudness(Glance.read(content, COUNT), "valve") == 7


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no array",
        written(np.zeros((COUNT, 2), np.float16))[:-1],
        written(np.zeros((COUNT, 2), np.float32)),
        written(np.zeros((COUNT + 1, 2), np.float16)),
        written(np.zeros(2 * COUNT, np.float16)),
        written(np.full((COUNT, 2), np.inf, np.float16)),
    ],
)
def test_a_file_that_is_no_glance_is_refused(content: bytes) -> None:
    with pytest.raises(ModelError, match="prefilter"):
        Glance.read(content, COUNT)


def test_a_file_cannot_bring_code_along() -> None:
    file = BytesIO()
    np.save(file, np.array([[print, print]], object), allow_pickle=True)
    with pytest.raises(ModelError, match="cannot be read"):
        Glance.read(file.getvalue(), COUNT)
