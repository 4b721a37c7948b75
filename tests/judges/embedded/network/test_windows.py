from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskshield.judges.embedded.network.windows import windows

SIZES = st.lists(st.integers(0, 12), max_size=40)


@pytest.mark.parametrize(
    ("sizes", "found"),
    [
        ([], []),
        ([4], [range(1)]),
        ([4, 6], [range(2)]),
        ([4, 4, 4], [range(2), range(1, 3)]),
        ([4, 4, 4, 2], [range(2), range(1, 4)]),
        ([5, 5, 6, 4], [range(2), range(2, 4)]),
        ([4, 99, 4], [range(1), range(1, 2), range(2, 3)]),
        ([99], [range(1)]),
        ([0, 0, 0], [range(3)]),
    ],
    ids=str,
)
def test_windows_of_ten(sizes: list[int], found: list[range]) -> None:
    assert windows(sizes, 10) == found


@given(SIZES)
def test_every_piece_is_in_a_window_and_windows_go_on(sizes: list[int]) -> None:
    found = windows(sizes, 10)
    assert all(len(one) > 0 for one in found)
    assert {number for one in found for number in one} == set(range(len(sizes)))
    for before, after in pairwise(found):
        assert before.start < after.start and before.stop < after.stop
        assert after.start in (before.stop - 1, before.stop)


@given(SIZES)
def test_no_window_is_too_full_but_for_one_piece_that_is_too_large(sizes: list[int]) -> None:
    for one in windows(sizes, 10):
        assert sum(sizes[number] for number in one) <= 10 or len(one) == 1


@given(SIZES)
def test_a_window_ends_only_where_no_more_fits(sizes: list[int]) -> None:
    for before, after in pairwise(windows(sizes, 10)):
        assert sum(sizes[number] for number in before) + sizes[before.stop] > 10
        repeats = sizes[before.stop - 1] + sizes[before.stop] <= 10
        assert after.start == before.stop - repeats
