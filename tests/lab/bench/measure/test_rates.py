"""Shares and their intervals."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskshield_lab.bench.measure.rates import Rate, _student, rate

OUTCOMES = st.lists(st.tuples(st.integers(0, 8), st.booleans()), min_size=1, max_size=200)


def measured(outcomes: list[tuple[int, bool]]) -> Rate:
    found = rate(outcomes)
    assert found is not None
    return found


def independent(hits: int, total: int) -> Rate:
    return measured([(number, number < hits) for number in range(total)])


def test_nothing_has_no_share() -> None:
    assert rate([]) is None


def test_many_independent_outcomes_get_wilsons_interval() -> None:
    found = independent(350, 1000)
    assert (found.hits, found.total, found.value) == (350, 1000, 0.35)
    assert found.low == pytest.approx(0.3211, abs=5e-4)
    assert found.high == pytest.approx(0.3801, abs=5e-4)


@pytest.mark.parametrize(
    ("freedom", "quantile"), [(1, 12.706), (2, 4.303), (5, 2.571), (19, 2.093), (96, 1.985)]
)
def test_few_clusters_get_students_quantile(freedom: int, quantile: float) -> None:
    assert _student(freedom) == pytest.approx(quantile, abs=0.02)


def test_one_cluster_tells_nothing() -> None:
    found = measured([(0, True), (0, False)])
    assert (found.low, found.high) == (0, 1)


def test_clusters_of_different_sizes_tell_less() -> None:
    even = measured([(cluster, False) for cluster in range(20) for _ in range(5)])
    sizes = [1] * 19 + [81]
    uneven = measured([(cluster, False) for cluster, size in enumerate(sizes) for _ in range(size)])
    assert uneven.total == even.total
    assert uneven.high > 3 * even.high


def test_twins_tell_no_more_than_one_of_them() -> None:
    alone = independent(7, 20)
    twins = measured([(number, number < 7) for number in range(20) for _ in range(10)])
    assert twins.value == alone.value
    # the same up to the correction for few clusters, and far from that of 200 coins
    assert twins.high - twins.low >= alone.high - alone.low
    assert twins.high - twins.low > 2 * (independent(70, 200).high - independent(70, 200).low)


def test_clusters_that_all_behave_alike_tell_nearly_as_much_as_coins() -> None:
    alike = measured([(cluster, hit) for cluster in range(50) for hit in (True, False)])
    coins = independent(50, 100)
    assert alike.low == pytest.approx(coins.low, abs=0.01)
    assert alike.high == pytest.approx(coins.high, abs=0.01)


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
