import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from taskshield_lab.training.fitting.decision import FittedDecision
from taskshield_lab.training.network.training_loop import Schedule
from taskshield_lab.training.pipeline import model_card
from taskshield_lab.training.pipeline.training_run import TrainingRun
from tests.lab.training.made_predictions import KINDS, whole

COURSE = TrainingRun(
    data=Path("data"),
    base=Path("base"),
    alignment=None,
    out=Path("out"),
    folds=(0, 3),
    per_scenario=7,
    per_task=3,
    schedule=Schedule(epochs=1.5),
    seed=11,
)
ENCODER = {"model_type": "mpnet", "num_hidden_layers": 12, "hidden_size": 768}
GLANCE = {"with planted words": 71, "read where so many others are": {"0.1": 0.625, "0.5": 1.0}}
GOLDEN = {"mean difference": 0.0456, "largest difference": 0.3219}


@pytest.fixture(scope="module")
def made() -> FittedDecision:
    found = whole()
    return replace(found, figures={**found.figures, "glance": GLANCE})


def written(made: FittedDecision, run: TrainingRun = COURSE) -> str:
    return model_card.render_card(run, made.figures, made.decision, GOLDEN, 34 * 2**20, ENCODER)


def test_no_blank_is_left(made: FittedDecision) -> None:
    assert not re.search(r"\{\{|\}\}|\bnan\b", written(made))


def test_the_card_has_the_options_without_paths(made: FittedDecision) -> None:
    (line,) = [line for line in written(made).splitlines() if '"per_scenario": 7' in line]
    assert '"per_task": 3' in line and '"epochs": 1.5' in line and str(COURSE.out) not in line
    assert json.loads(model_card.figures_json(COURSE, {}))["course"]["folds"] == [0, 3]


def test_the_card_names_the_threshold_of_every_kind_of_call(made: FittedDecision) -> None:
    text = written(made)
    for kind in KINDS:
        limit = made.decision["thresholds"][kind]
        at = made.figures["at the thresholds"][kind]
        false, caught = 100 * at["false blocks"], 100 * at["attacks caught"]
        row = rf"^\| {kind} \| {limit:.3f} \| {false:.1f} \| {caught:.1f} \|$"
        assert re.search(row, text, re.MULTILINE)
    assert f"from a probability of {made.decision['directive']['planted']:.2f} on" in text


def test_the_card_has_the_figures_of_the_prefilter(made: FittedDecision) -> None:
    assert "With 10 / 50 % of the harmless windows read" in written(made)
    assert "62.5 / 100.0 % of 71 windows with an attack" in written(made)


def test_the_card_has_the_figures_of_the_test_set(
    made: FittedDecision,
) -> None:
    good = made.figures["kept"]["good"]
    assert f"{100 * good['held']:.1f} % of {good['calls']} good ones" in written(made)
    folds = {name: one for name, one in made.figures.items() if name != "kept"}
    assert "test set" not in model_card.render_card(
        COURSE, folds, made.decision, GOLDEN, 1, ENCODER
    )


def test_the_card_has_the_figures_of_public_conversations(
    made: FittedDecision,
) -> None:
    for held in made.figures["foreign"].values():
        for name in ("good", "attack"):
            sentence = f"{100 * held[name]['held']:.1f} % of {held[name]['calls']}"
            assert sentence in written(made)
    without = {name: one for name, one in made.figures.items() if name != "foreign"}
    assert "public data" not in model_card.render_card(
        COURSE, without, made.decision, GOLDEN, 1, ENCODER
    )


def test_the_card_has_the_alarmed_rates_if_there_are_any(
    made: FittedDecision,
) -> None:
    assert "| alarmed |" not in written(made)
    more = {"false blocks, alarmed": 0.031, "attacks caught, alarmed": 0.874}
    asked = {**made.figures, "words aside": made.figures["words aside"] | more}
    text = model_card.render_card(COURSE, asked, made.decision, GOLDEN, 1, ENCODER)
    assert "| alarmed | 3.1 | 87.4 |" in text


def test_the_card_holds_the_figures_of_the_folds(made: FittedDecision) -> None:
    text = written(made)
    assert "1200 calls in 16 unseen domains" in text
    for name in ("all", "not delegating", "delegating", "English data", "data in other languages"):
        assert f"| {name} | {made.figures[name]['ranking of all calls']:.3f} |" in text
    for number, one in enumerate(made.figures["by fold"]):
        assert f"| fold {number} | {one['ranking of all calls']:.3f} |" in text
    for name, share in made.figures["without"].items():
        assert f"| {name} | {100 * share:.1f} |" in text
    assert text.count("\n", text.index("## Calibration"), text.index("## Known")) >= 12


def test_the_card_says_what_the_model_is_made_from(made: FittedDecision) -> None:
    text = written(made)
    assert "An MPNet encoder of 12 layers and 768 dimensions with" in text
    assert "| base | all-mpnet-base-v2" in text
    assert "34 MiB" in text and "0.0456" in text and "0.3219" in text
    assert '"per_scenario": 7' in text and '"epochs": 1.5' in text and '"seed": 11' in text
    assert "NOTICE" not in text
    second = TrainingRun(data=Path("d"), base=Path("b"), alignment=Path("pack"), out=Path("o"))
    assert "public pairs and texts, see `NOTICE`" in written(made, second)


def test_figures_are_json_with_the_options_of_the_run(made: FittedDecision) -> None:
    found = json.loads(model_card.figures_json(COURSE, made.figures))
    assert found["course"]["folds"] == [0, 3]
    assert found["course"]["second_source"] is False
    assert {name: found[name] for name in made.figures} == made.figures


def test_neither_card_nor_figures_have_paths(
    made: FittedDecision,
) -> None:
    run = TrainingRun(
        data=Path("/secret/d"), base=Path("/secret/b"), alignment=None, out=Path("/secret/o")
    )
    assert "secret" not in written(made, run) + model_card.figures_json(run, made.figures)
