"""Logistic regressions: fitted on all rows, fitted without a row's own domain, as calibration.

The fit is our own and not scikit-learn's, because `LogisticRegression` takes no offset, and the
weights of related sentences are fitted on top of log-odds that must stay as they are. Without an
offset both give the same weights (`test_logistic_regression.py`).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from taskshield_lab.training.fitting.fold_predictions import Column, Floats

PENALTY = 1e-3
"""Weight of the squared weights, for each row."""
LEAST_SPREAD = 0.05
"""Features that vary less are penalised as if they varied so much. A feature that hardly any call
has must not decide about the calls that have it."""
_PARTS = 5
"""Groups of domains of a cross-fit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassifierFit:
    """A fitted logistic regression."""

    weights: Floats
    bias: float

    def logits(self, rows: Floats) -> Floats:
        """The log-odds of each row."""
        logits: Floats = rows @ self.weights + self.bias
        return logits


def fit_logistic(
    rows: Floats,
    aligned: Floats,
    row_weights: Floats | None = None,
    offset: Floats | None = None,
) -> ClassifierFit:
    """Weights by Newton's method, lightly penalised; the same rows give the same weights.

    Args:
        rows: Features of the calls.
        aligned: 1 for a call that serves the user, else 0.
        row_weights: How much each row counts; all alike if not given.
        offset: Log-odds that the weights add to. With an offset nothing is centred, and there is
            no bias.
    """
    often = np.ones(len(rows)) if row_weights is None else row_weights
    start = np.zeros(len(rows)) if offset is None else offset
    mean = rows.mean(0) if offset is None else np.zeros(rows.shape[1])
    scale = np.maximum(rows.std(0), LEAST_SPREAD)
    table = np.c_[(rows - mean) / scale, np.ones(len(rows))]
    penalty = np.eye(table.shape[1]) * PENALTY * len(rows)
    penalty[-1, -1] = 1e-6 if offset is None else 1e9
    weights = np.zeros(table.shape[1])
    for _ in range(50):
        chance = expit(np.clip(start + table @ weights, -30, 30))
        gradient = table.T @ (often * (chance - aligned)) + penalty @ weights
        curvature = (table * (often * chance * (1 - chance) + 1e-6)[:, None]).T @ table + penalty
        step = np.linalg.solve(curvature, gradient)
        weights -= step
        if np.abs(step).max() < 1e-7:
            break
    unscaled = weights[:-1] / scale
    return ClassifierFit(weights=unscaled, bias=float(weights[-1] - unscaled @ mean))


def cross_fit(
    rows: Floats,
    aligned: Floats,
    domains: Column,
    row_weights: Floats | None = None,
    *,
    offset: Floats | None = None,
    fitted_on: NDArray[np.bool_] | None = None,
) -> Floats:
    """Logits of every row by weights that were fitted without its domain.

    Args:
        rows: Features of the calls.
        aligned: 1 for a call that serves the user, else 0.
        domains: The domain of each call.
        row_weights: How much each row counts; all alike if not given.
        offset: Log-odds that the weights add to; only what the weights add is returned.
        fitted_on: Rows that weights are fitted on; all if not given.
    """
    often = np.ones(len(rows)) if row_weights is None else row_weights
    usable = np.ones(len(rows), bool) if fitted_on is None else fitted_on
    names = sorted({str(domain) for domain in domains})
    part = np.array([names.index(str(domain)) % _PARTS for domain in domains])
    logits = np.zeros(len(rows))
    for number in range(_PARTS):
        others, own = (part != number) & usable, part == number
        start = None if offset is None else offset[others]
        fit = fit_logistic(rows[others], aligned[others], often[others], start)
        logits[own] = fit.logits(rows[own])
    return logits


def fit_calibration(logits: Floats, right: Floats) -> tuple[float, float]:
    """Slope and offset that turn logits into calibrated log-odds (Platt scaling)."""
    fit = fit_logistic(logits[:, None], right)
    return float(fit.weights[0]), fit.bias
