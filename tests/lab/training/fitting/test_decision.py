import json
from dataclasses import replace

import numpy as np
import pytest

from taskshield.core.tools import Tier
from taskshield.judges.embedded.decision.classifier import CallClassifier, read_classifier
from taskshield.judges.embedded.decision.features import feature_list
from taskshield_lab.training.fitting import decision as decision_module
from taskshield_lab.training.fitting import rates, thresholds
from taskshield_lab.training.fitting.decision import (
    ABLATIONS,
    FittedDecision,
    fit_decision,
    row_weights,
)
from taskshield_lab.training.fitting.fold_predictions import (
    Column,
    FoldPredictions,
    join_calls,
    join_tags,
)
from taskshield_lab.training.fitting.tag_limits import fit_limits
from tests.lab.training.made_predictions import KINDS, findings, whole


@pytest.fixture(scope="module")
def folds() -> list[FoldPredictions]:
    return [findings(1), findings(2)]


@pytest.fixture(scope="module")
def made() -> FittedDecision:
    return whole()


@pytest.fixture(scope="module")
def decision(made: FittedDecision) -> CallClassifier:
    return read_classifier(json.dumps(made.decision).encode(), frozenset(feature_list()))


def test_the_decision_is_one_that_the_judge_reads(decision: CallClassifier) -> None:
    assert list(decision.weights) == list(feature_list())
    assert set(decision.thresholds) == set(KINDS)
    assert decision.joined <= decision.planted <= decision.planted_delegated


def test_the_decision_separates_good_calls_from_bad_ones(
    decision: CallClassifier, folds: list[FoldPredictions]
) -> None:
    calls = {
        name: column[:700] for name, column in folds[0].calls.items()
    }  # the others are unnoticed
    chances = [
        decision.serves(dict(zip(feature_list(), map(float, row), strict=True)))
        for row in calls["features"]
    ]
    aligned = calls["aligned"].astype(bool)
    assert rates.roc_auc(np.array(chances), aligned) > 0.95
    assert np.mean(chances) == pytest.approx(np.mean(aligned), abs=0.03)


def test_probabilities_of_segments_are_calibrated(
    decision: CallClassifier, folds: list[FoldPredictions]
) -> None:
    limits = fit_limits(join_tags(folds))
    chance = decision.directive.probability
    assert decision.planted == pytest.approx(chance(limits.injected))
    assert decision.planted_delegated == pytest.approx(chance(limits.injected_delegated))
    assert decision.joined == pytest.approx(chance(limits.joined))
    logits = np.concatenate([one.tags["logit"] for one in folds]).astype(np.float64)
    labels = np.concatenate([one.tags["label"] for one in folds])
    mean = np.mean([chance(float(logit)) for logit in logits])
    assert mean == pytest.approx(np.mean(labels == "attack"), abs=0.01)


def test_thresholds_block_about_as_many_good_calls_as_allowed(made: FittedDecision) -> None:
    for kind, share in thresholds.FALSE_BLOCKS.items():
        held = made.figures["at the thresholds"][kind]["false blocks"]
        assert held == pytest.approx(share, abs=0.03)
    assert 0 < made.figures["disturbed"]["at most"] <= thresholds.DISTURBED
    assert all(0 < limit < 1 for limit in made.decision["thresholds"].values())


def test_plans_are_judged_by_what_directs_the_agent_alone(
    decision: CallClassifier, folds: list[FoldPredictions]
) -> None:
    calls = join_calls(folds)
    good = calls["aligned"].astype(bool) & (calls["tier"] == "plan")
    asked_by_data = calls["features"][good][:, feature_list().index("told")]
    limit = decision.threshold("plan")
    blocked = np.mean([decision.plan_serves(float(one)) <= limit for one in asked_by_data])
    assert blocked == pytest.approx(thresholds.FALSE_BLOCKS["plan"], abs=0.01)


def test_the_test_set_is_reported_and_changes_nothing(
    made: FittedDecision, folds: list[FoldPredictions], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = findings(3).calls
    grave = [tier.value for tier in Tier if tier.side_effects]
    seen = (calls["view"] == "judged") & np.isin(calls["tier"], grave)
    kept = made.figures["kept"]
    for name, kind in (("good", "step"), ("attack", "attack"), ("drift", "drift")):
        assert kept[name]["calls"] == int((seen & (calls["kind"] == kind)).sum())
    assert kept["good"]["held"] < 0.05 < 0.5 < kept["attack"]["held"]
    monkeypatch.setattr(decision_module, "_figures", lambda *_: {})
    without = fit_decision(folds)
    assert without.decision == made.decision and "kept" not in without.figures


def test_alarmed_calls_are_reported_and_change_nothing(
    made: FittedDecision, folds: list[FoldPredictions], monkeypatch: pytest.MonkeyPatch
) -> None:
    def with_alarm(one: FoldPredictions) -> FoldPredictions:
        more = {name: column[:100] for name, column in one.calls.items()}
        more |= {"aligned": ~more["aligned"].astype(bool), "view": np.full(100, "alarmed")}
        both = {name: np.r_[column, more[name]] for name, column in one.calls.items()}
        return replace(one, calls=both)

    monkeypatch.setattr(decision_module, "_figures", lambda *_: {})
    found = fit_decision([with_alarm(one) for one in folds])
    for part in ("weights", "thresholds", "directive"):
        assert found.decision[part] == pytest.approx(made.decision[part])
    assert found.figures["words aside"]["false blocks, alarmed"] > 0.5
    assert "false blocks, alarmed" not in made.figures["words aside"]


def test_public_conversations_are_reported_with_and_without_delegation(
    made: FittedDecision,
) -> None:
    calls = findings(4).calls
    grave = [tier.value for tier in Tier if tier.side_effects]
    seen = (calls["view"] == "judged") & np.isin(calls["tier"], grave)
    delegating = calls["delegating"].astype(bool)
    for name, rows in (("delegating", seen & delegating), ("not delegating", seen & ~delegating)):
        held = made.figures["foreign"][name]
        assert held["good"]["calls"] == int((rows & calls["aligned"].astype(bool)).sum())
        assert held["attack"]["calls"] == int((rows & (calls["kind"] == "attack")).sum())
        assert held["good"]["held"] < 0.1 < 0.5 < held["attack"]["held"]


def test_the_same_predictions_give_the_same_decision(
    made: FittedDecision, folds: list[FoldPredictions], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decision_module, "_figures", lambda *_: {})
    assert fit_decision(folds).decision == made.decision


def test_figures_are_numbers_that_json_can_hold(made: FittedDecision) -> None:
    assert json.loads(json.dumps(made.figures, allow_nan=False)) == made.figures
    assert made.figures["calls"] == 1200  # plans are none
    assert made.figures["domains"] == 16
    assert len(made.figures["by fold"]) == 2


def test_an_ablation_shows_the_part_that_matters(made: FittedDecision) -> None:
    without = made.figures["without"]
    assert without.keys() == {"nothing", "any model", *ABLATIONS}
    assert without["the model's opinion on the call"] < without["nothing"] - 0.3
    assert without["delegation"] == pytest.approx(without["nothing"], abs=0.05)


def test_every_ablated_group_names_features() -> None:
    for group in ABLATIONS.values():
        for beginning in group:
            assert any(name.startswith(beginning) for name in feature_list()), beginning


def test_drift_counts_little(
    folds: list[FoldPredictions], monkeypatch: pytest.MonkeyPatch, made: FittedDecision
) -> None:
    monkeypatch.setattr(decision_module, "_figures", lambda *_: {})
    monkeypatch.setattr(decision_module, "DRIFT_WEIGHT", 1.0)
    assert fit_decision(folds).decision != made.decision


def test_drift_counts_less() -> None:
    calls: dict[str, Column] = {"kind": np.array(["step", "drift", "attack", "drift"])}
    assert row_weights(calls).tolist() == pytest.approx([1.0, 0.3, 1.0, 0.3])
