"""Shares and their intervals."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskshield.evals.measure.rates import Rate, rate

OUTCOMES = st.lists(st.tuples(st.integers(0, 8), st.booleans()), min_size=1, max_size=200)


def measured(outcomes: list[tuple[int, bool]]) -> Rate:
    found = rate(outcomes)
    assert found is not None
    return found


def independent(hits: int, total: int) -> Rate:
    return measured([(number, number < hits) for number in range(total)])


def test_nothing_has_no_share() -> None:
    assert rate([]) is None


def test_independent_outcomes_get_the_interval_that_text_books_print() -> None:
    # Wilson's interval for 7 of 20, e.g. Newcombe 1998 for other numbers of the same formula
    found = independent(7, 20)
    assert (found.hits, found.total, found.value) == (7, 20, 0.35)
    assert found.low == pytest.approx(0.1812, abs=5e-4)
    assert found.high == pytest.approx(0.5671, abs=5e-4)


def test_twins_tell_no_more_than_one_of_them() -> None:
    alone = independent(7, 20)
    twins = measured([(number, number < 7) for number in range(20) for _ in range(10)])
    assert twins.value == alone.value
    # the same up to the correction for few clusters, and far from that of 200 coins
    assert twins.high - twins.low >= alone.high - alone.low
    assert twins.high - twins.low > 2 * (independent(70, 200).high - independent(70, 200).low)


def test_clusters_that_all_behave_alike_tell_as_much_as_coins() -> None:
    alike = measured([(cluster, hit) for cluster in range(20) for hit in (True, False)])
    coins = independent(20, 40)
    assert (alike.low, alike.high) == (coins.low, coins.high)


@pytest.mark.parametrize("hit", [True, False])
def test_all_or_nothing_is_as_sure_as_there_are_clusters(hit: bool) -> None:
    many = measured([(cluster, hit) for cluster in range(30) for _ in range(50)])
    few = independent(30 if hit else 0, 30)
    assert (many.low, many.high) == (few.low, few.high)
    assert many.high - many.low > 0.05


@given(OUTCOMES)
def test_an_interval_holds_its_share_and_stays_in_range(outcomes: list[tuple[int, bool]]) -> None:
    found = measured(outcomes)
    assert 0 <= found.low <= found.value + 1e-9
    assert found.value - 1e-9 <= found.high <= 1
    assert found.high > found.low


@given(OUTCOMES)
def test_the_interval_does_not_depend_on_what_counts_as_a_hit(
    outcomes: list[tuple[int, bool]],
) -> None:
    found = measured(outcomes)
    other = measured([(cluster, not hit) for cluster, hit in outcomes])
    assert other.low == pytest.approx(1 - found.high)
    assert other.high == pytest.approx(1 - found.low)
