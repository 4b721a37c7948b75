"""What the networks of a course say, asked one by one and at once."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from taskshield_lab.training.conversations.labelled import LabelledConversation
from taskshield_lab.training.fitting.cross_validation import FoldPredictions
from taskshield_lab.training.network.batches import TokenExamples
from taskshield_lab.training.network.network import Network, from_base, saved
from taskshield_lab.training.pipeline import datasets, network_training, predictions
from taskshield_lab.training.pipeline.network_training import final_network
from taskshield_lab.training.pipeline.predictions import (
    ask_ahead,
    examine_folds,
    examine_foreign,
    examine_kept,
)
from taskshield_lab.training.pipeline.training_run import TrainingRun
from taskshield_lab.training.sources.splits import Split
from tests.lab.training import alignment_pack, few_scenarios, tiny_base
from tests.lab.training.made_findings import findings


def quiet(_: str) -> None:
    pass


def test_a_fold_is_taught_without_what_it_is_asked_about(
    course: TrainingRun, taught: list[Split], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[set[str]] = []

    def examined(
        network: Network, talks: Sequence[LabelledConversation], *_: object
    ) -> FoldPredictions:
        asked.append({talk.scenario for talk in talks})
        return findings(1)

    monkeypatch.setattr(predictions, "examined", examined)
    here = replace(course, out=tmp_path, folds=(0, 4), networks=1)
    first = examine_folds(here, quiet)
    assert [(split.side, split.held_out) for split in taught] == [("train", 0), ("train", 4)]
    assert asked[0] == few_scenarios.ASKED and not asked[0] & asked[1]
    names = [f"fold-{number}.{kind}" for number in (0, 4) for kind in ("npz", "safetensors")]
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    again = examine_folds(here, quiet)
    assert len(taught) == 2
    for one, other in zip(first, again, strict=True):
        assert (one.calls["features"] == other.calls["features"]).all()


def test_a_broken_examination_is_done_again_with_the_same_network(
    course: TrainingRun, taught: list[Split], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> FoldPredictions:
        raise KeyboardInterrupt

    here = replace(course, out=tmp_path, networks=1)
    monkeypatch.setattr(predictions, "examined", broken)
    with pytest.raises(KeyboardInterrupt):
        examine_folds(here, quiet)
    monkeypatch.setattr(predictions, "examined", lambda *_: findings(1))
    assert len(examine_folds(here, quiet)) == 1 and len(taught) == 1


def test_what_is_kept_is_never_taught_and_asked_of_the_final_network(
    course: TrainingRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = {"com-sub-family", "counters-02"}
    here = replace(course, out=tmp_path, networks=1, kept=tuple(sorted(kept)))
    taught: list[int] = []
    asked: list[tuple[float, set[str], object]] = []

    def teach(network: Network, lessons: TokenExamples, *_: object) -> None:
        taught.append(len(lessons))
        with torch.no_grad():
            network.tags.bias.fill_(float(len(taught)))

    def examined(
        network: Network, talks: Sequence[LabelledConversation], definitions: object, *_: object
    ) -> FoldPredictions:
        asked.append((network.tags.bias.item(), {talk.scenario for talk in talks}, definitions))
        return findings(len(asked))

    monkeypatch.setattr(network_training, "teach", teach)
    monkeypatch.setattr(predictions, "examined", examined)
    (fold,), last = examine_folds(here, quiet), examine_kept(here, quiet)
    assert last is not None and examine_kept(course, quiet) is None
    assert [(bias, scenarios) for bias, scenarios, _ in asked] == [
        (1.0, few_scenarios.ASKED - kept),
        (2.0, kept),
    ]
    assert asked[0][2] and not asked[1][2]
    assert final_network(here, quiet).tags.bias.item() == 2.0
    everything = {talk.scenario for talk in datasets.talks(here, here.split("all"))}
    assert not everything & kept and len(everything) == 12 + 4 - len(kept)
    for found, seed in ((fold, 1), (last, 2)):
        assert (found.calls["features"] == findings(seed).calls["features"]).all()


def test_foreign_conversations_are_asked_of_the_final_network(
    course: TrainingRun,
    taught: list[Split],
    pack: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    here = replace(course, out=tmp_path, networks=1, alignment=pack)
    asked: list[tuple[list[LabelledConversation], object]] = []
    limits = findings(1).limits

    def examined(
        network: Network, talks: list[LabelledConversation], *more: object
    ) -> FoldPredictions:
        asked.append((talks, more[-1]))
        return findings(1)

    monkeypatch.setattr(predictions, "examined", examined)
    assert examine_foreign(course, limits, quiet) is None
    bare = replace(here, alignment=alignment_pack.write(tmp_path / "no valid rows"))
    assert examine_foreign(bare, limits, quiet) is None
    for _ in range(2):
        assert examine_foreign(here, limits, quiet) is not None
    ((talks, given),) = asked
    assert given is limits
    assert {talk.scenario for talk in talks} == {"p16", "p17", "p18", "p19"}
    assert [split.side for split in taught] == ["all"]


def test_what_is_said_hangs_on_nobodys_pace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = TrainingRun(
        data=few_scenarios.write(tmp_path / "lab" / "data"),
        base=tiny_base.write(tmp_path / "base"),
        alignment=None,
        out=tmp_path / "alone",
        folds=(0, 1),
        validation_per_scenario=1,
        kept=(few_scenarios.HELD_OUT[1],),
    )
    ahead = replace(alone, out=tmp_path / "ahead", workers=3)
    for course in (alone, ahead):
        course.out.mkdir()
        for name in ("fold-0", "fold-1", "network"):
            saved(from_base(course.base), course.out / f"{name}.safetensors")
    told: list[str] = []
    ask_ahead(ahead, told.append)
    assert [line.split(":")[0] for line in told] == ["kept", "fold-0", "fold-1"]
    monkeypatch.delattr(predictions, "ProcessPoolExecutor")
    ask_ahead(ahead, told.append)  # for nothing no process is begun
    one, other = (
        [*examine_folds(course, told.append), examine_kept(course, told.append)]
        for course in (ahead, alone)
    )
    assert len(told) == 6  # those that were asked ahead are not asked again
    for mine, theirs in zip(one, other, strict=True):
        assert mine is not None and theirs is not None
        assert (mine.calls["talk"] == theirs.calls["talk"]).all()
        assert mine.calls["features"].shape == theirs.calls["features"].shape
        assert np.allclose(mine.calls["features"], theirs.calls["features"], atol=1e-3)
