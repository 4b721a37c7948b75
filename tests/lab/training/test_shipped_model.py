"""What the shipped model's folds found is kept; the decision and the card are made from it."""

import json
import re
from pathlib import Path

import pytest

from taskshield.judges.embedded.network.model_files import SHIPPED
from taskshield_lab.training.fitting import decision
from taskshield_lab.training.fitting.decision import FittedDecision, fit_decision
from taskshield_lab.training.fitting.fold_predictions import FoldPredictions
from taskshield_lab.training.pipeline import model_card

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def made() -> FittedDecision:
    run = ROOT / "lab" / "data" / "shipped_model"
    folds = [FoldPredictions.load(run / f"fold-{number}.npz") for number in range(3)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decision, "_ablated", lambda *_: {})  # takes ten times as long as the rest
        kept, foreign = (FoldPredictions.load(run / f"{name}.npz") for name in ("kept", "foreign"))
        return fit_decision(folds, kept, foreign)


def test_the_shipped_decision_is_the_one_that_the_folds_give(made: FittedDecision) -> None:
    shipped = json.loads((SHIPPED / "decision.json").read_text(encoding="utf-8"))
    assert shipped.keys() == made.decision.keys()
    assert shipped["bias"] == pytest.approx(made.decision["bias"], rel=1e-4)
    for part in ("weights", "thresholds", "directive"):
        assert shipped[part] == pytest.approx(made.decision[part], rel=1e-4, abs=1e-6)


def test_the_model_card_tells_the_figures_of_the_folds(made: FittedDecision) -> None:
    text = (ROOT / "docs" / "model-card.md").read_text(encoding="utf-8")
    sections = {
        "groups": model_card._groups(made.figures),
        "tags": model_card._tags(made.figures),
        "test set": model_card._test_set(made.figures),
        "public conversations": model_card._public(made.figures),
        "thresholds": model_card._thresholds(made.figures, made.decision),
        "calibration": model_card._calibration(made.figures),
    }
    for name, section in sections.items():
        assert re.search(r"\d", section), f"{name}: no figures"  # nothing is in every text
        assert section in text, name


def test_the_figures_are_such_that_json_can_hold_them(made: FittedDecision) -> None:
    json.dumps(made.figures, allow_nan=False)
