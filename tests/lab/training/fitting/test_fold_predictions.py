from pathlib import Path

import numpy as np

from taskshield.judges.embedded.decision.features import feature_list
from taskshield_lab.training.fitting.fold_predictions import FoldPredictions, Limits, join_calls
from tests.lab.training.fitting.call_tables import FIRST, SECOND, labelled


def test_calls_of_all_folds_are_joined() -> None:
    found = join_calls([FIRST, SECOND])
    assert found["features"].shape == (8, len(feature_list()))
    assert found["fold"].tolist() == [0] * 4 + [1] * 4


def test_predictions_are_read_as_they_were_saved(tmp_path: Path) -> None:
    made = FoldPredictions(
        limits=Limits(injected=1.5, injected_delegated=2.5, joined=-0.25),
        tags={"logit": np.array([1.0, 2.0], np.float32), "label": labelled("attack", "plain")},
        calls={"features": np.ones((2, 3), np.float32), "aligned": np.array([True, False])},
        definitions={"logit": np.array([0.5, -1.0]), "poisoned": np.array([True, False])},
        names=feature_list()[:3],
    )
    made.save(tmp_path / "fold.npz")
    again = FoldPredictions.load(tmp_path / "fold.npz")
    assert again.limits == made.limits
    assert again.names == made.names
    for part in ("tags", "calls", "definitions"):
        mine, theirs = getattr(made, part), getattr(again, part)
        assert mine.keys() == theirs.keys()
        for name, column in mine.items():
            assert column.dtype == theirs[name].dtype and (column == theirs[name]).all()


def test_features_that_no_longer_exist_are_left_out(tmp_path: Path) -> None:
    first, second = feature_list()[:2]
    made = FoldPredictions(
        limits=Limits(injected=1.5, injected_delegated=2.5, joined=-0.25),
        tags={},
        calls={"features": np.array([[1, 2, 3], [4, 5, 6]], np.float32)},
        definitions={},
        names=(first, "once a feature", second),
    )
    made.save(tmp_path / "fold.npz")
    again = FoldPredictions.load(tmp_path / "fold.npz")
    assert again.names == (first, second)
    assert again.calls["features"].tolist() == [[1, 3], [4, 6]]
