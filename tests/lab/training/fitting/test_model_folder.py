import json
from pathlib import Path

import pytest

from taskshield.core.errors import ModelError
from taskshield.judges.embedded.decision.classifier import CallClassifier, read_classifier
from taskshield.judges.embedded.decision.features import feature_list
from taskshield.judges.embedded.network.model_files import verified
from taskshield_lab.training.fitting.decision import FittedDecision
from taskshield_lab.training.fitting.model_folder import write_model_folder
from tests.judges.embedded import tiny_model
from tests.lab.training.made_predictions import whole


@pytest.fixture(scope="module")
def made() -> FittedDecision:
    return whole()


@pytest.fixture(scope="module")
def decision(made: FittedDecision) -> CallClassifier:
    return read_classifier(json.dumps(made.decision).encode(), frozenset(feature_list()))


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "some.onnx").write_bytes(tiny_model.onnx_model())
    (folder / "words.json").write_text(tiny_model.tokenizer().to_str())
    (folder / "learned.npy").write_bytes(b"weights")
    return folder


def shipped(files: Path, out: Path, made: FittedDecision, version: str = "2") -> None:
    model, words, glance = (files / name for name in ("some.onnx", "words.json", "learned.npy"))
    write_model_folder(model, words, made.decision, glance, out, name="tiny", version=version)


def test_a_released_folder_passes_all_checks(
    files: Path, made: FittedDecision, decision: CallClassifier, tmp_path: Path
) -> None:
    shipped(files, tmp_path / "deep" / "weights", made)
    found = verified(tmp_path / "deep" / "weights")
    assert found.label.startswith("tiny-2@")
    assert found.model == tiny_model.onnx_model()
    assert found.glance == b"weights"
    assert read_classifier(found.decision, frozenset(feature_list())) == decision
    assert [one.name for one in (tmp_path / "deep").iterdir()] == ["weights"]


def test_a_new_model_takes_the_place_of_the_old_one(
    files: Path, made: FittedDecision, tmp_path: Path
) -> None:
    out = tiny_model.write(tmp_path / "weights")
    shipped(files, out, made)
    assert verified(out).label.startswith("tiny-2@")


@pytest.mark.parametrize("how", ["a name with blanks", "a file is missing", "no number"])
def test_an_error_leaves_the_old_model_as_it_was(
    files: Path, made: FittedDecision, tmp_path: Path, how: str
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
        shipped(files, out, FittedDecision(decision=decision, figures={}), version)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    assert sorted(one.name for one in tmp_path.iterdir()) == ["files", "weights"]
