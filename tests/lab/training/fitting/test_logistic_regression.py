import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from taskshield_lab.training.fitting.fold_predictions import Floats
from taskshield_lab.training.fitting.logistic_regression import (
    PENALTY,
    cross_fit,
    fit_calibration,
    fit_logistic,
)
from taskshield_lab.training.fitting.rates import roc_auc


def drawn(rows: Floats, weights: Floats, bias: float, seed: int = 0) -> Floats:
    """Labels that a logistic model with these weights would give."""
    chance = 1 / (1 + np.exp(-(rows @ weights + bias)))
    return (np.random.default_rng(seed).random(len(rows)) < chance).astype(np.float64)


def some_rows(count: int, width: int, seed: int = 1) -> Floats:
    return np.random.default_rng(seed).normal(size=(count, width))


def test_known_weights_are_found_again() -> None:
    rows = some_rows(40_000, 3) * np.array([1.0, 5.0, 0.1]) + np.array([0.0, 2.0, 1.0])
    weights = np.array([1.5, -0.3, 6.0])
    found = fit_logistic(rows, drawn(rows, weights, -5.0))
    np.testing.assert_allclose(found.weights, weights, rtol=0.08)
    assert found.bias == pytest.approx(-5.0, rel=0.08)
    np.testing.assert_array_equal(found.logits(rows), rows @ found.weights + found.bias)


def test_the_same_rows_give_the_same_weights() -> None:
    rows = some_rows(500, 4)
    aligned = drawn(rows, np.ones(4), 0.0)
    one, same = fit_logistic(rows, aligned), fit_logistic(rows, aligned)
    assert one.bias == same.bias and (one.weights == same.weights).all()


def test_rows_that_can_be_separated_without_error_do_not_break_the_fit() -> None:
    rows = np.r_[np.full((50, 1), -1.0), np.full((50, 1), 1.0)]
    found = fit_logistic(rows, (rows[:, 0] > 0).astype(np.float64))
    assert np.isfinite(found.weights).all() and found.weights[0] > 1


def test_a_feature_that_never_changes_has_no_weight() -> None:
    rows = np.c_[some_rows(500, 1), np.full(500, 3.0)]
    found = fit_logistic(rows, drawn(rows, np.array([1.0, 0.0]), 0.0))
    assert abs(found.weights[1] * 3.0) < 1e-3


def test_a_feature_that_hardly_any_row_has_has_hardly_any_weight() -> None:
    rng = np.random.default_rng(1)
    rows = np.c_[rng.normal(size=150_000), np.zeros(150_000)]
    aligned = (rows[:, 0] + rng.normal(size=150_000) > -1).astype(np.float64)
    rows[np.flatnonzero(aligned == 0)[:2], 1] = 0.3
    found = fit_logistic(rows, aligned)
    assert found.weights[0] > 1 and abs(found.weights[1]) < 2


def test_a_row_that_counts_for_nothing_changes_hardly_anything() -> None:
    rows = some_rows(400, 2)
    aligned = drawn(rows, np.array([1.0, -1.0]), 0.0)
    weights = np.where(np.arange(400) < 300, 1.0, 0.0)
    spoilt = np.where(weights > 0, aligned, 1 - aligned)
    one, other = fit_logistic(rows, aligned, weights), fit_logistic(rows, spoilt, weights)
    np.testing.assert_allclose(one.weights, other.weights, atol=1e-6)


def test_cross_fitted_logits_come_from_other_domains() -> None:
    """Weights that were fitted with a row's own domain would give another logit."""
    rows = some_rows(600, 2)
    domains = np.array([f"d{number % 7}" for number in range(600)])
    aligned = drawn(rows, np.array([1.0, 1.0]), 0.0)
    logits = cross_fit(rows, aligned, domains)
    for name in ("d0", "d3", "d6"):
        own = domains == name
        spoilt = np.where(own, 1 - aligned, aligned)
        np.testing.assert_array_equal(cross_fit(rows, spoilt, domains)[own], logits[own])
        assert not np.array_equal(cross_fit(rows, spoilt, domains)[~own], logits[~own])


def test_a_feature_that_gives_a_domains_labels_away_does_not_help() -> None:
    count, domains = 2000, 10
    rng = np.random.default_rng(4)
    domain = rng.integers(0, domains, count)
    aligned = (rng.random(count) < 0.5).astype(np.float64)
    poison = np.zeros((count, domains))
    poison[np.arange(count), domain] = 2 * aligned - 1  # each domain's labels, in its own column
    names = np.array([f"d{number}" for number in domain])
    rows = np.c_[poison, rng.normal(size=(count, 1))]
    cheating = fit_logistic(rows, aligned).logits(rows)
    assert roc_auc(cheating, aligned) > 0.99
    assert roc_auc(cross_fit(rows, aligned, names), aligned) == pytest.approx(0.5, abs=0.06)


def test_a_curve_makes_logits_calibrated() -> None:
    logits = some_rows(30_000, 1)[:, 0] * 3
    right = drawn(logits[:, None], np.array([0.5]), 1.0)
    slope, offset = fit_calibration(logits, right)
    assert slope == pytest.approx(0.5, rel=0.06) and offset == pytest.approx(1.0, rel=0.06)


def test_weights_on_top_of_others_are_found_again() -> None:
    rows = some_rows(20_000, 2) + 1.0
    start = some_rows(20_000, 1, seed=8)[:, 0] * 2
    chance = 1 / (1 + np.exp(-(start + rows @ np.array([-1.0, 0.4]))))
    aligned = (np.random.default_rng(2).random(20_000) < chance).astype(np.float64)
    found = fit_logistic(rows, aligned, offset=start)
    np.testing.assert_allclose(found.weights, [-1.0, 0.4], atol=0.06)
    assert found.bias == pytest.approx(0.0, abs=1e-4)


def test_a_cross_fit_with_an_offset_returns_what_it_adds() -> None:
    rows, domains = some_rows(3000, 1), np.array([f"d{number % 7}" for number in range(3000)])
    start = np.full(3000, 2.0)
    aligned = drawn(np.c_[rows, start], np.array([-1.5, 1.0]), 0.0)
    added = cross_fit(rows, aligned, domains, offset=start)
    np.testing.assert_allclose(added, rows[:, 0] * -1.5, atol=0.6)


def test_rows_that_nothing_is_fitted_on_get_logits_all_the_same() -> None:
    rows, domains = some_rows(900, 2), np.array([f"d{number % 7}" for number in range(900)])
    aligned = drawn(rows, np.array([1.0, 1.0]), 0.0)
    learned = np.arange(900) < 600
    spoilt = np.where(learned, aligned, 1 - aligned)
    logits = cross_fit(rows, aligned, domains, fitted_on=learned)
    np.testing.assert_array_equal(cross_fit(rows, spoilt, domains, fitted_on=learned), logits)
    assert (logits[600:] != 0).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_scikit_learn_finds_the_same_weights(weighted: bool) -> None:
    """Its penalty counts in the other direction, and it does not penalise the bias."""
    rows = some_rows(3000, 6) * np.array([1.0, 5.0, 0.2, 1.0, 2.0, 0.5])
    aligned = drawn(rows, np.array([1.5, -0.3, 2.0, 0.0, 0.4, -1.0]), -1.0)
    weights = np.where(np.arange(3000) % 3, 1.0, 0.3) if weighted else np.ones(3000)
    ours = fit_logistic(rows, aligned, weights)
    scale, mean = rows.std(0), rows.mean(0)
    model = LogisticRegression(C=1 / (PENALTY * len(rows)), solver="newton-cholesky", tol=1e-10)
    theirs = model.fit((rows - mean) / scale, aligned, weights)
    np.testing.assert_allclose(ours.weights, theirs.coef_[0] / scale, rtol=1e-5)
    bias = theirs.intercept_[0] - (theirs.coef_[0] / scale) @ mean
    assert ours.bias == pytest.approx(bias, rel=1e-5)
