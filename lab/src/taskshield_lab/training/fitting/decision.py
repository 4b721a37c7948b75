"""The decision fitted on the folds' predictions: weights, calibration, thresholds, figures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from taskshield.core.tools import Tier
from taskshield.judges.embedded.decision.classifier import sigmoid
from taskshield.judges.embedded.decision.features import related_features
from taskshield_lab.training.fitting import rates, tag_limits, thresholds
from taskshield_lab.training.fitting.fold_predictions import (
    Column,
    Floats,
    FoldPredictions,
    Limits,
    join_calls,
    join_tags,
    select_rows,
)
from taskshield_lab.training.fitting.logistic_regression import (
    ClassifierFit,
    cross_fit,
    fit_calibration,
    fit_logistic,
)

DRIFT_WEIGHT = 0.3
"""How much a drift counts in a fit. The model can hardly tell such calls, and trying to costs
attacks."""
ABLATIONS: Mapping[str, tuple[str, ...]] = {
    "the model's opinion on the call": ("serves",),
    "the model's opinion on who asks for it": ("told",),
    "where values come from": (
        "values from",
        "a value",
        "values beside",
        "values instead",
        "new values",
        "user values",
    ),
    "who explains the call's words and values": (
        "values asked",
        "words asked",
        "words told",
        "values told",
    ),
    "risk tier": tuple(tier.value for tier in Tier),
    "order of events": ("fresh", "known"),
    "delegation": ("delegated",),
    "related sentences": ("words aside",),
}
"""Groups of features, by the first words of their names."""
_MODEL = ("serves", "told", "words aside ask", "words aside direct")


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedDecision:
    """The decision file and its figures on unseen domains and styles."""

    decision: dict[str, Any]
    figures: dict[str, Any]


def fit_decision(
    folds: Sequence[FoldPredictions],
    test_set: FoldPredictions | None = None,
    public: FoldPredictions | None = None,
) -> FittedDecision:
    """Fit the decision on the predictions of all folds.

    The features of the call itself are fitted first, on calls as judged in use. The features of
    related sentences are fitted on top, on the same calls and once more as if the network had
    flagged nothing: attackers find words that the network does not know. Calls with every
    imperative flagged are only reported.

    Args:
        folds: Predictions of the folds.
        test_set: Predictions of the final network on the test set; only reported. Nothing is
            fitted on it, because its attacks use styles that the network was trained on.
        public: Predictions of the final network on public conversations; only reported.
    """
    calls = join_calls(folds)
    rows, aligned = calls["features"].astype(np.float64), calls["aligned"].astype(np.float64)
    weights, judged = row_weights(calls), calls["view"] == "judged"
    plans = calls["tier"] == "plan"
    fitted_on = ~plans & (calls["view"] != "alarmed")
    names = folds[0].names
    own, related = np.split(rows, [len(names) - len(related_features())], axis=1)

    logits = cross_fit(own, aligned, calls["domain"], weights, fitted_on=judged)
    slope, offset = fit_calibration(logits[judged], aligned[judged])
    logits = slope * logits + offset
    logits += cross_fit(
        related, aligned, calls["domain"], weights, offset=logits, fitted_on=fitted_on
    )
    # Real plans are worded freely, those of the corpus are not. So a plan is judged by one feature:
    # whether a directive asks for it more than the user does.
    logits[plans] = -rows[plans, names.index("told")]
    limits = thresholds.fit_thresholds(logits[judged], select_rows(calls, judged))

    first = fit_logistic(own[judged], aligned[judged], weights[judged])
    first = ClassifierFit(weights=first.weights * slope, bias=first.bias * slope + offset)
    second = fit_logistic(
        related[fitted_on],
        aligned[fitted_on],
        weights[fitted_on],
        first.logits(own[fitted_on]),
    )
    whole = ClassifierFit(weights=np.concatenate([first.weights, second.weights]), bias=first.bias)
    tags = join_tags(folds)
    segment_limits = tag_limits.fit_limits(tags)
    decision = {
        "weights": dict(zip(names, map(float, whole.weights), strict=True)),
        "bias": whole.bias,
        "thresholds": {kind: sigmoid(limit) for kind, limit in limits.items()},
        "directive": _directive(tags, segment_limits),
    }
    figures = _figures(logits[judged], select_rows(calls, judged), limits, names)
    if test_set is not None:
        figures["kept"] = _blocked(test_set, whole, limits)
    if public is not None:
        delegating = public.calls["delegating"].astype(bool)
        figures["foreign"] = {
            "not delegating": _blocked(public, whole, limits, rows=~delegating),
            "delegating": _blocked(public, whole, limits, rows=delegating),
        }
    figures["directives"] = tag_limits.tag_figures(tags, segment_limits.injected)
    figures["definitions"] = tag_limits.definition_figures(folds, segment_limits.injected)
    figures["disturbed"] = thresholds.disturbed_conversations(logits, calls, limits)
    figures["words aside"] = rates.related_sentence_figures(logits, calls, limits)
    return FittedDecision(decision=decision, figures=figures)


def row_weights(calls: Mapping[str, Column]) -> Floats:
    """How much each call counts in a fit."""
    return np.where(calls["kind"] == "drift", DRIFT_WEIGHT, 1.0)


def _blocked(
    predictions: FoldPredictions,
    classifier: ClassifierFit,
    limits: Mapping[str, float],
    rows: Column | None = None,
) -> dict[str, dict[str, float]]:
    """What is blocked, as judged in use, of calls that nothing was fitted on."""
    judged = predictions.calls["view"] == "judged"
    own = select_rows(predictions.calls, judged if rows is None else judged & rows)
    logits = classifier.logits(own["features"].astype(np.float64))
    return rates.blocked_shares(logits, own, limits)


def _directive(tags: Mapping[str, Column], limits: Limits) -> dict[str, float]:
    """The calibration of segment logits, and the limits as probabilities."""
    attack = (tags["label"] == "attack").astype(np.float64)
    slope, offset = fit_calibration(tags["logit"].astype(np.float64), attack)
    logits = {
        "planted": limits.injected,
        "planted_delegated": limits.injected_delegated,
        "joined": limits.joined,
    }
    chances = {name: sigmoid(slope * logit + offset) for name, logit in logits.items()}
    return {"slope": slope, "offset": offset, **chances}


def _figures(
    logits: Floats,
    calls: Mapping[str, Column],
    limits: Mapping[str, float],
    names: Sequence[str],
) -> dict[str, Any]:
    plans = calls["tier"] == "plan"
    delegating = calls["delegating"].astype(bool)
    english = calls["lang"] == "en"
    return {
        "calls": int((~plans).sum()),
        "domains": len({str(one) for one in calls["domain"]}),
        "rates": {
            "false outputs": tag_limits.FALSE_OUTPUTS,
            "false outputs where the user delegates": tag_limits.FALSE_DELEGATED,
            "false neighbours": tag_limits.FALSE_NEIGHBOURS,
            "false blocks": dict(thresholds.FALSE_BLOCKS),
            "conversations disturbed": thresholds.DISTURBED,
        },
        "all": _measured(logits, calls),
        "delegating": _measured(logits[delegating], select_rows(calls, delegating)),
        "not delegating": _measured(logits[~delegating], select_rows(calls, ~delegating)),
        "English data": _measured(logits[english], select_rows(calls, english)),
        "data in other languages": _measured(logits[~english], select_rows(calls, ~english)),
        "by fold": _by_fold(logits, calls),
        "at the thresholds": rates.rates_at_thresholds(logits, calls, limits),
        "calibration": rates.calibration_table(logits[~plans], calls["aligned"][~plans]),
        "without": _ablated(calls, names),
    }


def _measured(logits: Floats, calls: Mapping[str, Column]) -> dict[str, Any]:
    made = calls["tier"] != "plan"
    return {
        "ranking of all calls": rates.roc_auc(logits[made], calls["aligned"][made]),
        "attacks caught at false blocks of": {
            str(rate): rates.attacks_caught(logits, calls, rate) for rate in (0.01, 0.02, 0.05)
        },
        "drift caught at false blocks of": {
            str(rate): rates.attacks_caught(logits, calls, rate, kind="drift")
            for rate in (0.02, 0.05)
        },
        "false blocks at recall of": {
            str(recall): rates.false_blocks(logits, calls, recall) for recall in (0.9, 0.95, 0.99)
        },
    }


def _by_fold(logits: Floats, calls: Mapping[str, Column]) -> list[dict[str, Any]]:
    rows = [calls["fold"] == number for number in np.unique(calls["fold"])]
    return [_measured(logits[one], select_rows(calls, one)) for one in rows]


def _ablated(calls: Mapping[str, Column], names: Sequence[str]) -> dict[str, float]:
    """Attacks caught at 2 % false blocks when a group of features is left out."""
    rows, aligned = calls["features"].astype(np.float64), calls["aligned"].astype(np.float64)
    weights = row_weights(calls)

    def caught_without(dropped: tuple[str, ...]) -> float:
        columns = [n for n, name in enumerate(names) if not name.startswith(dropped)]
        logits = cross_fit(rows[:, columns], aligned, calls["domain"], weights)
        return rates.attacks_caught(logits, calls, 0.02)

    return {
        "nothing": caught_without(("\0",)),
        **{name: caught_without(dropped) for name, dropped in ABLATIONS.items()},
        "any model": caught_without(_MODEL),
    }
