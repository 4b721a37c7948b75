"""The networks of a course, one by one and at once."""

from dataclasses import replace
from pathlib import Path
from pickle import dumps

import pytest
import torch
from torch import Tensor

from taskshield_lab.training.network.batches import TokenExamples
from taskshield_lab.training.network.network import Network, load_base
from taskshield_lab.training.network.training_loop import Schedule
from taskshield_lab.training.pipeline import network_training
from taskshield_lab.training.pipeline.network_training import final_network, train_ahead
from taskshield_lab.training.pipeline.training_run import TrainingRun
from taskshield_lab.training.sources.splits import Split


def quiet(_: str) -> None:
    pass


def test_the_final_network_is_trained_once_on_all_data(
    run: TrainingRun, trained_splits: list[Split], tmp_path: Path
) -> None:
    here = replace(run, out=tmp_path, networks=1)
    one, same = final_network(here, quiet), final_network(here, quiet)
    assert [split.side for split in trained_splits] == ["all"]
    for name, tensor in one.state_dict().items():
        assert (tensor == same.state_dict()[name]).all()


def test_a_network_is_the_mean_of_several_with_other_seeds(
    run: TrainingRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[dict[str, Tensor]] = []
    seen: list[tuple[int, int]] = []

    def recorded(network: Network, examples: TokenExamples, schedule: Schedule, _: object) -> None:
        begun.append({name: one.clone() for name, one in network.state_dict().items()})
        seen.append((hash(dumps(examples)), schedule.seed))
        with torch.no_grad():
            network.tags.bias.fill_(float(len(begun)))

    monkeypatch.setattr(network_training, "train", recorded)
    mean = final_network(replace(run, out=tmp_path, networks=3), quiet)
    assert mean.tags.bias.item() == 2.0
    assert all((one[name] == begun[0][name]).all() for one in begun for name in one)
    assert len({examples for examples, _ in seen}) == 3
    assert [seed for _, seed in seen] == [0, 1, 2]


def test_the_first_network_of_every_mean_is_trained_before_the_second_of_any(
    run: TrainingRun, tmp_path: Path
) -> None:
    here = replace(run, out=tmp_path, folds=(0, 1, 2), networks=2)
    (tmp_path / "fold-1.npz").touch()  # it was asked already
    (tmp_path / "fold-2.safetensors").touch()  # it exists already
    assert [
        (name, split, number)
        for *_, name, split, number in network_training._missing_networks(here)
    ] == [
        (name, split, number)
        for number in (0, 1)
        for name, split in (("fold-0", here.split("train", 0)), ("network", here.split("all")))
    ]


def distance(one: Network, other: Network) -> float:
    """Between all weights of two networks, squared."""
    return sum(
        float((tensor - other.state_dict()[name]).square().sum())
        for name, tensor in one.state_dict().items()
    )


def test_networks_are_the_same_whether_trained_in_parallel_or_one_by_one(
    run: TrainingRun, tmp_path: Path
) -> None:
    short = replace(run, networks=2, schedule=Schedule(epochs=0.05, batch_examples=8))
    alone, ahead = (replace(short, out=tmp_path / name) for name in ("alone", "ahead"))
    for folder in (alone.out, ahead.out):
        folder.mkdir()
    (ahead.out / "fold-0.npz").touch()  # its network is not needed any more
    told: list[str] = []
    train_ahead(replace(ahead, parallel_networks=2, workers=2), told.append)
    assert told[0] == "Training 2 networks, 2 in parallel."
    assert [line for line in told if "training network" in line] == [
        "network: training network 1 of 2.",
        "network: training network 2 of 2.",
    ]
    parts = ["network.0.safetensors", "network.1.safetensors"]
    assert sorted(path.name for path in ahead.out.iterdir()) == ["fold-0.npz", *parts]
    heard: list[str] = []
    one, other = final_network(alone, quiet), final_network(ahead, heard.append)
    assert heard == []  # both were there
    moved, apart = distance(one, load_base(run.base)), distance(one, other)
    assert apart < moved / 100  # another process rounds otherwise, in the last bits
    assert [path.name for path in alone.out.iterdir()] == ["network.safetensors"]
    train_ahead(replace(ahead, parallel_networks=2), heard.append)
    assert heard == []  # and nothing is left to do
