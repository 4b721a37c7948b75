"""What the networks of a course say, asked one by one and at once."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from taskshield_lab.training.conversations.labelled import LabelledConversation
from taskshield_lab.training.fitting.fold_predictions import FoldPredictions
from taskshield_lab.training.network.batches import TokenExamples
from taskshield_lab.training.network.network import Network, load_base, save_network
from taskshield_lab.training.pipeline import datasets, network_training, predictions
from taskshield_lab.training.pipeline.network_training import final_network
from taskshield_lab.training.pipeline.predictions import (
    predict_ahead,
    predict_folds,
    predict_public,
    predict_test_set,
)
from taskshield_lab.training.pipeline.training_run import TrainingRun
from taskshield_lab.training.sources.splits import Split
from tests.lab.training import alignment_pack, few_scenarios, tiny_base
from tests.lab.training.made_predictions import findings


def quiet(_: str) -> None:
    pass


def test_a_fold_is_trained_without_its_validation_data(
    run: TrainingRun, trained_splits: list[Split], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[set[str]] = []

    def examined(
        network: Network, conversations: Sequence[LabelledConversation], *_: object
    ) -> FoldPredictions:
        asked.append({conversation.scenario for conversation in conversations})
        return findings(1)

    monkeypatch.setattr(predictions, "predict_conversations", examined)
    here = replace(run, out=tmp_path, folds=(0, 4), networks=1)
    first = predict_folds(here, quiet)
    assert [(split.side, split.held_out) for split in trained_splits] == [
        ("train", 0),
        ("train", 4),
    ]
    assert asked[0] == few_scenarios.PREDICTED and not asked[0] & asked[1]
    names = [f"fold-{number}.{kind}" for number in (0, 4) for kind in ("npz", "safetensors")]
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    again = predict_folds(here, quiet)
    assert len(trained_splits) == 2
    for one, other in zip(first, again, strict=True):
        assert (one.calls["features"] == other.calls["features"]).all()


def test_a_broken_examination_is_done_again_with_the_same_network(
    run: TrainingRun, trained_splits: list[Split], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> FoldPredictions:
        raise KeyboardInterrupt

    here = replace(run, out=tmp_path, networks=1)
    monkeypatch.setattr(predictions, "predict_conversations", broken)
    with pytest.raises(KeyboardInterrupt):
        predict_folds(here, quiet)
    monkeypatch.setattr(predictions, "predict_conversations", lambda *_: findings(1))
    assert len(predict_folds(here, quiet)) == 1 and len(trained_splits) == 1


def test_the_test_set_is_never_trained_on_and_the_final_network_predicts_it(
    run: TrainingRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = {"com-sub-family", "counters-02"}
    here = replace(run, out=tmp_path, networks=1, test_set=tuple(sorted(kept)))
    taught: list[int] = []
    asked: list[tuple[float, set[str], object]] = []

    def teach(network: Network, examples: TokenExamples, *_: object) -> None:
        taught.append(len(examples))
        with torch.no_grad():
            network.tags.bias.fill_(float(len(taught)))

    def examined(
        network: Network,
        conversations: Sequence[LabelledConversation],
        definitions: object,
        *_: object,
    ) -> FoldPredictions:
        asked.append(
            (
                network.tags.bias.item(),
                {conversation.scenario for conversation in conversations},
                definitions,
            )
        )
        return findings(len(asked))

    monkeypatch.setattr(network_training, "train", teach)
    monkeypatch.setattr(predictions, "predict_conversations", examined)
    (fold,), last = predict_folds(here, quiet), predict_test_set(here, quiet)
    assert last is not None and predict_test_set(run, quiet) is None
    assert [(bias, scenarios) for bias, scenarios, _ in asked] == [
        (1.0, few_scenarios.PREDICTED - kept),
        (2.0, kept),
    ]
    assert asked[0][2] and not asked[1][2]
    assert final_network(here, quiet).tags.bias.item() == 2.0
    everything = {
        conversation.scenario
        for conversation in datasets.labelled_conversations(here, here.split("all"))
    }
    assert not everything & kept and len(everything) == 12 + 4 - len(kept)
    for found, seed in ((fold, 1), (last, 2)):
        assert (found.calls["features"] == findings(seed).calls["features"]).all()


def test_the_final_network_predicts_public_conversations(
    run: TrainingRun,
    trained_splits: list[Split],
    pack: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    here = replace(run, out=tmp_path, networks=1, alignment=pack)
    asked: list[tuple[list[LabelledConversation], object]] = []
    limits = findings(1).limits

    def examined(
        network: Network, conversations: list[LabelledConversation], *more: object
    ) -> FoldPredictions:
        asked.append((conversations, more[-1]))
        return findings(1)

    monkeypatch.setattr(predictions, "predict_conversations", examined)
    assert predict_public(run, limits, quiet) is None
    bare = replace(here, alignment=alignment_pack.write(tmp_path / "no valid rows"))
    assert predict_public(bare, limits, quiet) is None
    for _ in range(2):
        assert predict_public(here, limits, quiet) is not None
    ((conversations, given),) = asked
    assert given is limits
    assert {conversation.scenario for conversation in conversations} == {"p16", "p17", "p18", "p19"}
    assert [split.side for split in trained_splits] == ["all"]


def test_predictions_do_not_depend_on_the_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = TrainingRun(
        data=few_scenarios.write(tmp_path / "lab" / "data"),
        base=tiny_base.write(tmp_path / "base"),
        alignment=None,
        out=tmp_path / "alone",
        folds=(0, 1),
        validation_per_scenario=1,
        test_set=(few_scenarios.HELD_OUT[1],),
    )
    ahead = replace(alone, out=tmp_path / "ahead", workers=3)
    for run in (alone, ahead):
        run.out.mkdir()
        for name in ("fold-0", "fold-1", "network"):
            save_network(load_base(run.base), run.out / f"{name}.safetensors")
    told: list[str] = []
    predict_ahead(ahead, told.append)
    assert [line.split(":")[0] for line in told] == ["kept", "fold-0", "fold-1"]
    monkeypatch.delattr(predictions, "ProcessPoolExecutor")
    predict_ahead(ahead, told.append)  # for nothing no process is begun
    one, other = (
        [*predict_folds(run, told.append), predict_test_set(run, told.append)]
        for run in (ahead, alone)
    )
    assert len(told) == 6  # those that were asked ahead are not asked again
    for mine, theirs in zip(one, other, strict=True):
        assert mine is not None and theirs is not None
        assert (mine.calls["talk"] == theirs.calls["talk"]).all()
        assert mine.calls["features"].shape == theirs.calls["features"].shape
        assert np.allclose(mine.calls["features"], theirs.calls["features"], atol=1e-3)
