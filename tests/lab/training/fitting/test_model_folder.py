import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from taskshield.core.errors import ModelError
from taskshield.core.tools import Tier
from taskshield.judges.embedded.decision.classifier import CallClassifier, read_classifier
from taskshield.judges.embedded.decision.features import feature_list
from taskshield.judges.embedded.network.model_files import verified
from taskshield_lab.training.fitting import calibration, model_folder
from taskshield_lab.training.fitting.cross_validation import FoldPredictions
from taskshield_lab.training.fitting.model_folder import ABLATIONS, Assembled, assembled, ship
from tests.judges.embedded import tiny_model
from tests.lab.training.made_findings import KINDS, findings, whole


@pytest.fixture(scope="module")
def folds() -> list[FoldPredictions]:
    return [findings(1), findings(2)]


@pytest.fixture(scope="module")
def made() -> Assembled:
    return whole()


@pytest.fixture(scope="module")
def decision(made: Assembled) -> CallClassifier:
    return read_classifier(json.dumps(made.decision).encode(), frozenset(feature_list()))


def test_the_decision_is_one_that_the_judge_reads(decision: CallClassifier) -> None:
    assert list(decision.weights) == list(feature_list())
    assert set(decision.thresholds) == set(KINDS)
    assert decision.joined <= decision.planted <= decision.planted_delegated


def test_the_decision_tells_good_calls_from_bad_ones(
    decision: CallClassifier, folds: list[FoldPredictions]
) -> None:
    calls = {name: column[:700] for name, column in folds[0].calls.items()}  # the others are blind
    chances = [
        decision.serves(dict(zip(feature_list(), map(float, row), strict=True)))
        for row in calls["features"]
    ]
    aligned = calls["aligned"].astype(bool)
    assert calibration.ranked(np.array(chances), aligned) > 0.95
    assert np.mean(chances) == pytest.approx(np.mean(aligned), abs=0.03)


def test_chances_of_segments_are_those_of_the_curve(
    decision: CallClassifier, folds: list[FoldPredictions]
) -> None:
    limits = calibration.tag_limits(calibration.stacked_tags(folds))
    chance = decision.directive.probability
    assert decision.planted == pytest.approx(chance(limits.planted))
    assert decision.planted_delegated == pytest.approx(chance(limits.planted_delegated))
    assert decision.joined == pytest.approx(chance(limits.joined))
    logits = np.concatenate([one.tags["logit"] for one in folds]).astype(np.float64)
    labels = np.concatenate([one.tags["label"] for one in folds])
    said = np.mean([chance(float(logit)) for logit in logits])
    assert said == pytest.approx(np.mean(labels == "attack"), abs=0.01)


def test_thresholds_block_about_as_many_good_calls_as_was_asked(made: Assembled) -> None:
    for kind, share in calibration.FALSE_BLOCKS.items():
        held = made.figures["at the thresholds"][kind]["false blocks"]
        assert held == pytest.approx(share, abs=0.03)
    assert 0 < made.figures["disturbed"]["at most"] <= calibration.DISTURBED
    assert all(0 < limit < 1 for limit in made.decision["thresholds"].values())


def test_plans_are_judged_by_what_directs_the_agent_alone(
    decision: CallClassifier, folds: list[FoldPredictions]
) -> None:
    calls = calibration.joined(folds)
    good = calls["aligned"].astype(bool) & (calls["tier"] == "plan")
    told = calls["features"][good][:, feature_list().index("told")]
    limit = decision.threshold("plan")
    blocked = np.mean([decision.plan_serves(float(one)) <= limit for one in told])
    assert blocked == pytest.approx(calibration.FALSE_BLOCKS["plan"], abs=0.01)


def test_what_was_kept_is_told_and_changes_nothing(
    made: Assembled, folds: list[FoldPredictions], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = findings(3).calls
    grave = [tier.value for tier in Tier if tier.side_effects]
    seen = (calls["view"] == "judged") & np.isin(calls["tier"], grave)
    kept = made.figures["kept"]
    for name, kind in (("good", "step"), ("attack", "attack"), ("drift", "drift")):
        assert kept[name]["calls"] == int((seen & (calls["kind"] == kind)).sum())
    assert kept["good"]["held"] < 0.05 < 0.5 < kept["attack"]["held"]
    monkeypatch.setattr(model_folder, "_figures", lambda *_: {})
    without = assembled(folds)
    assert without.decision == made.decision and "kept" not in without.figures


def test_calls_in_alarm_are_told_and_change_nothing(
    made: Assembled, folds: list[FoldPredictions], monkeypatch: pytest.MonkeyPatch
) -> None:
    def with_alarm(one: FoldPredictions) -> FoldPredictions:
        more = {name: column[:100] for name, column in one.calls.items()}
        more |= {"aligned": ~more["aligned"].astype(bool), "view": np.full(100, "alarmed")}
        both = {name: np.r_[column, more[name]] for name, column in one.calls.items()}
        return replace(one, calls=both)

    monkeypatch.setattr(model_folder, "_figures", lambda *_: {})
    found = assembled([with_alarm(one) for one in folds])
    for part in ("weights", "thresholds", "directive"):
        assert found.decision[part] == pytest.approx(made.decision[part])
    assert found.figures["words aside"]["false blocks, alarmed"] > 0.5
    assert "false blocks, alarmed" not in made.figures["words aside"]


def test_foreign_conversations_are_told_apart_by_who_delegates(made: Assembled) -> None:
    calls = findings(4).calls
    grave = [tier.value for tier in Tier if tier.side_effects]
    seen = (calls["view"] == "judged") & np.isin(calls["tier"], grave)
    delegating = calls["delegating"].astype(bool)
    for name, rows in (("delegating", seen & delegating), ("not delegating", seen & ~delegating)):
        held = made.figures["foreign"][name]
        assert held["good"]["calls"] == int((rows & calls["aligned"].astype(bool)).sum())
        assert held["attack"]["calls"] == int((rows & (calls["kind"] == "attack")).sum())
        assert held["good"]["held"] < 0.1 < 0.5 < held["attack"]["held"]


def test_the_same_findings_give_the_same_decision(
    made: Assembled, folds: list[FoldPredictions], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_folder, "_figures", lambda *_: {})
    assert assembled(folds).decision == made.decision


def test_figures_are_numbers_that_json_can_hold(made: Assembled) -> None:
    assert json.loads(json.dumps(made.figures, allow_nan=False)) == made.figures
    assert made.figures["calls"] == 1200  # plans are none
    assert made.figures["domains"] == 16
    assert len(made.figures["by fold"]) == 2


def test_the_part_that_matters_is_missed_where_it_is_left_out(made: Assembled) -> None:
    without = made.figures["without"]
    assert without.keys() == {"nothing", "any model", *ABLATIONS}
    assert without["the model's opinion on the call"] < without["nothing"] - 0.3
    assert without["delegation"] == pytest.approx(without["nothing"], abs=0.05)


def test_every_group_that_is_left_out_names_features() -> None:
    for group in ABLATIONS.values():
        for beginning in group:
            assert any(name.startswith(beginning) for name in feature_list()), beginning


def test_drift_counts_for_little(
    folds: list[FoldPredictions], monkeypatch: pytest.MonkeyPatch, made: Assembled
) -> None:
    monkeypatch.setattr(model_folder, "_figures", lambda *_: {})
    monkeypatch.setattr(calibration, "_DRIFT", 1.0)
    assert assembled(folds).decision != made.decision


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "some.onnx").write_bytes(tiny_model.onnx_model())
    (folder / "words.json").write_text(tiny_model.tokenizer().to_str())
    (folder / "learned.npy").write_bytes(b"weights")
    return folder


def shipped(files: Path, out: Path, made: Assembled, version: str = "2") -> None:
    model, words, glance = (files / name for name in ("some.onnx", "words.json", "learned.npy"))
    ship(model, words, made.decision, glance, out, name="tiny", version=version)


def test_what_is_shipped_passes_all_checks(
    files: Path, made: Assembled, decision: CallClassifier, tmp_path: Path
) -> None:
    shipped(files, tmp_path / "deep" / "weights", made)
    found = verified(tmp_path / "deep" / "weights")
    assert found.label.startswith("tiny-2@")
    assert found.model == tiny_model.onnx_model()
    assert found.glance == b"weights"
    assert read_classifier(found.decision, frozenset(feature_list())) == decision
    assert [one.name for one in (tmp_path / "deep").iterdir()] == ["weights"]


def test_a_new_model_takes_the_place_of_the_old_one(
    files: Path, made: Assembled, tmp_path: Path
) -> None:
    out = tiny_model.write(tmp_path / "weights")
    shipped(files, out, made)
    assert verified(out).label.startswith("tiny-2@")


@pytest.mark.parametrize("how", ["a name with blanks", "a file is missing", "no number"])
def test_an_error_leaves_the_old_model_as_it_was(
    files: Path, made: Assembled, tmp_path: Path, how: str
) -> None:
    out = tiny_model.write(tmp_path / "weights")
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    decision, version = made.decision, "2"
    if how == "a name with blanks":
        version = "2 or so"
    elif how == "a file is missing":
        (files / "words.json").unlink()
    else:
        decision = {"weights": object()}
    with pytest.raises((ModelError, OSError, TypeError)):
        shipped(files, out, Assembled(decision=decision, figures={}), version)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    assert sorted(one.name for one in tmp_path.iterdir()) == ["files", "weights"]
