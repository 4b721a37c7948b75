import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from taskshield.core.errors import ModelError
from taskshield.judges.embedded.decision.classifier import read_classifier
from taskshield.judges.embedded.decision.features import feature_list
from taskshield.judges.embedded.network.model import Model
from taskshield_lab.training.network.network import from_base
from taskshield_lab.training.pipeline import golden_scores, predictions, prefilter_weights, release
from taskshield_lab.training.pipeline.release import Shipment
from taskshield_lab.training.pipeline.training_run import TrainingRun
from tests.lab.training import made_findings, tiny_base
from tests.lab.training.pipeline.test_model_card import GLANCE


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TrainingRun:
    """A course whose networks need not be taught any more."""
    base = tiny_base.write(tmp_path / "base")
    monkeypatch.setattr(predictions, "examine_folds", lambda *_: [made_findings.findings(1)])
    monkeypatch.setattr(release, "assembled", lambda *_: made_findings.whole())
    monkeypatch.setattr(predictions, "final_network", lambda *_: from_base(base))
    words = tiny_base.tokenizer().get_vocab_size()
    glance = tmp_path / "learned.npy"
    np.save(glance, np.zeros((words, 2), np.float16))
    monkeypatch.setattr(prefilter_weights, "made", lambda *_: glance)
    monkeypatch.setattr(prefilter_weights, "examined", lambda *_: GLANCE)
    return TrainingRun(data=tmp_path, base=base, alignment=None, out=tmp_path / "out")


def test_everything_goes_where_it_is_asked_for(course: TrainingRun) -> None:
    told: list[str] = []
    to = Shipment.below(course.out)
    release.run(course, to, version="3", log=told.append)
    assert sorted(path.name for path in course.out.iterdir()) == [
        "figures.json",
        "golden.json",
        "model-card.md",
        "weights",
    ]
    assert "## Thresholds" in to.card.read_text()
    assert json.loads(to.figures.read_text())["calls"] == 1200
    assert str(to.weights) in told[-1]


@pytest.mark.parametrize("at_once", [1, 2])
def test_networks_are_taught_and_asked_ahead_where_several_are_at_once(
    course: TrainingRun, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    ahead: list[str] = []
    for name in ("teach_ahead", "ask_ahead"):
        monkeypatch.setattr(predictions, name, lambda *_, name=name: ahead.append(name))
    to = Shipment.below(course.out)
    release.run(replace(course, at_once=at_once), to, version="3", log=lambda _: None)
    assert ahead == ([] if at_once == 1 else ["teach_ahead", "ask_ahead"])


def test_the_shipped_folder_gives_the_golden_scores(course: TrainingRun) -> None:
    to = Shipment.below(course.out)
    release.run(course, to, version="3", log=lambda _: None)
    model = Model.load(to.weights)
    assert model.label.startswith("taskshield-embedded-3@")
    read_classifier(model.decision, frozenset(feature_list()))
    rows = json.loads(to.golden.read_text())["shipped"]
    for pair, row in zip(golden_scores.PAIRS, rows, strict=False):
        assert model.pair(*pair) == pytest.approx(row, abs=1e-3)


def test_a_version_that_is_none_leaves_nothing_half_made(course: TrainingRun) -> None:
    to = Shipment.below(course.out)
    with pytest.raises(ModelError, match="cannot name a model"):
        release.run(course, to, version="3 or so", log=lambda _: None)
    assert not list(course.out.iterdir())
