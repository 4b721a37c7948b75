import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from taskshield.core.errors import ModelError
from taskshield.judges.embedded.decision.classifier import read_classifier
from taskshield.judges.embedded.decision.features import feature_list
from taskshield.judges.embedded.network.model import Model
from taskshield_lab.training.network.network import load_base
from taskshield_lab.training.pipeline import golden_scores, predictions, prefilter_weights, release
from taskshield_lab.training.pipeline.release import ReleaseFiles
from taskshield_lab.training.pipeline.training_run import TrainingRun
from tests.lab.training import made_predictions, tiny_base
from tests.lab.training.pipeline.test_model_card import GLANCE


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TrainingRun:
    """A run whose networks are trained."""
    base = tiny_base.write(tmp_path / "base")
    monkeypatch.setattr(predictions, "predict_folds", lambda *_: [made_predictions.findings(1)])
    monkeypatch.setattr(release, "fit_decision", lambda *_: made_predictions.whole())
    monkeypatch.setattr(predictions, "final_network", lambda *_: load_base(base))
    words = tiny_base.tokenizer().get_vocab_size()
    glance = tmp_path / "learned.npy"
    np.save(glance, np.zeros((words, 2), np.float16))
    monkeypatch.setattr(prefilter_weights, "prefilter_file", lambda *_: glance)
    monkeypatch.setattr(prefilter_weights, "evaluate_prefilter", lambda *_: GLANCE)
    return TrainingRun(data=tmp_path, base=base, alignment=None, out=tmp_path / "out")


def test_all_files_of_a_release_are_written(run: TrainingRun) -> None:
    told: list[str] = []
    to = ReleaseFiles.below(run.out)
    release.release_model(run, to, version="3", log=told.append)
    assert sorted(path.name for path in run.out.iterdir()) == [
        "figures.json",
        "golden.json",
        "model-card.md",
        "weights",
    ]
    assert "## Thresholds" in to.card.read_text()
    assert json.loads(to.figures.read_text())["calls"] == 1200
    assert str(to.weights) in told[-1]


@pytest.mark.parametrize("at_once", [1, 2])
def test_networks_are_trained_ahead_if_several_are_parallel(
    run: TrainingRun, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    ahead: list[str] = []
    for name in ("train_ahead", "predict_ahead"):
        monkeypatch.setattr(predictions, name, lambda *_, name=name: ahead.append(name))
    to = ReleaseFiles.below(run.out)
    release.release_model(
        replace(run, parallel_networks=at_once), to, version="3", log=lambda _: None
    )
    assert ahead == ([] if at_once == 1 else ["train_ahead", "predict_ahead"])


def test_the_shipped_folder_gives_the_golden_scores(run: TrainingRun) -> None:
    to = ReleaseFiles.below(run.out)
    release.release_model(run, to, version="3", log=lambda _: None)
    model = Model.load(to.weights)
    assert model.label.startswith("taskshield-embedded-3@")
    read_classifier(model.decision, frozenset(feature_list()))
    rows = json.loads(to.golden.read_text())["shipped"]
    for pair, row in zip(golden_scores.PAIRS, rows, strict=False):
        assert model.pair(*pair) == pytest.approx(row, abs=1e-3)


def test_a_version_that_is_none_leaves_nothing_half_made(run: TrainingRun) -> None:
    to = ReleaseFiles.below(run.out)
    with pytest.raises(ModelError, match="cannot name a model"):
        release.release_model(run, to, version="3 or so", log=lambda _: None)
    assert not list(run.out.iterdir())
