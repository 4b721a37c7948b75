"""Conversations and training examples of one side of the data."""

import os
import re
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path
from pickle import dumps

import numpy as np
import pytest

from taskshield.core.errors import ConfigError
from taskshield_lab.training.distractors import public_rows
from taskshield_lab.training.distractors.public_rows import PublicRows, Side
from taskshield_lab.training.fitting.cross_validation import predict_conversations
from taskshield_lab.training.network.batches import TAG
from taskshield_lab.training.network.labelled_tokens import ASKS
from taskshield_lab.training.network.network import load_base
from taskshield_lab.training.pipeline import datasets
from taskshield_lab.training.pipeline.datasets import (
    _SLICES,
    _slice_examples,
    _workers,
    labelled_conversations,
    parallel_map,
    training_examples,
)
from taskshield_lab.training.pipeline.training_run import TrainingRun
from taskshield_lab.training.sources.scenario_files import read_openings
from taskshield_lab.training.sources.splits import Split, fold_of_domain
from tests.lab.training import alignment_pack, few_scenarios, small_environment


def test_training_examples_do_not_depend_on_the_workers(run: TrainingRun) -> None:
    split = Split(side="train", held_out=1)
    alone = training_examples(run, split)
    assert dumps(alone) == dumps(training_examples(replace(run, workers=2), split))
    assert dumps(alone) != dumps(training_examples(replace(run, seed=2), split))
    assert len(alone) > 100


def test_training_examples_have_targets_for_all_three_heads(run: TrainingRun) -> None:
    examples = _slice_examples(run, Split(), 0)
    assert {answer.head for one in examples for answer in one.targets} == {None, 0, 1}


def test_slices_hold_every_scenario_once(run: TrainingRun) -> None:
    whole = [conversation.id for conversation in labelled_conversations(run, Split())]
    parts = [
        conversation.id
        for number in range(_SLICES)
        for conversation in labelled_conversations(run, Split(), number)
    ]
    assert sorted(parts) == sorted(whole)
    told = [id for id in whole if not id.startswith(few_scenarios.OPENED)]
    assert len(told) == len(set(told)) == 12


def test_environments_are_trained_on_unless_they_are_held_out(
    run: TrainingRun, tmp_path: Path
) -> None:
    data = tmp_path / "lab" / "data"
    shutil.copytree(run.data, data)
    small_environment.write(data / "worlds")
    here = replace(run, data=data)
    fold = fold_of_domain("waterworks", 5)

    def told(split: Split) -> list[str]:
        return [
            conversation.id
            for conversation in labelled_conversations(here, split)
            if conversation.domain == "waterworks"
        ]

    taught = told(Split())
    assert len(taught) == len(set(taught)) == 2 * run.per_task  # of two tasks
    sliced = [
        conversation.id
        for number in range(_SLICES)
        for conversation in labelled_conversations(here, Split(), number)
        if conversation.domain == "waterworks"
    ]
    assert sliced == taught
    assert not told(Split(side="train", held_out=fold)) and not told(Split(side="kept"))
    asked = told(Split(side="validation", held_out=fold))
    assert len(asked) == 2 * run.validation_per_task
    assert not told(Split(side="validation", held_out=(fold + 1) % 5))


def test_right_calls_of_openings_are_repeated_and_wrong_ones_are_not(run: TrainingRun) -> None:
    openings = read_openings(run.data / "openings")
    right = Counter(f"{one.id}:right-{n}" for one in openings for n in range(len(one.right)))
    wrong = Counter(f"{one.id}:wrong-{n}" for one in openings for n in range(len(one.wrong)))
    ids = {*right, *wrong}
    taught, asked = (
        Counter(
            conversation.id
            for conversation in labelled_conversations(run, split)
            if conversation.id in ids
        )
        for split in (Split(), Split(side="validation", held_out=0))
    )
    assert taught == right + right + right + wrong
    assert asked == Counter(id for id in ids if id.startswith(few_scenarios.OPENED_HELD_OUT))


def test_validation_has_other_domains_and_another_seed(run: TrainingRun) -> None:
    """Other domains and another seed, so that nothing in validation was in training."""
    kept = list(labelled_conversations(run, Split(side="validation", held_out=0)))
    assert {conversation.scenario for conversation in kept} == few_scenarios.PREDICTED
    told = [
        conversation for conversation in kept if conversation.scenario in few_scenarios.HELD_OUT
    ]
    assert len(told) == 2 * len(few_scenarios.HELD_OUT)
    assert len({conversation.id for conversation in kept}) == len(kept)
    taught = list(labelled_conversations(run, Split(side="train", held_out=0)))
    assert all(fold_of_domain(conversation.domain, 5) != 0 for conversation in taught)
    opened = {conversation.scenario for conversation in taught} & {*few_scenarios.OPENED}
    assert (
        len(opened) == 2
        and sum(conversation.scenario not in opened for conversation in taught) == 8
    )


def test_public_examples_come_after_our_own(run: TrainingRun, tmp_path: Path) -> None:
    split = Split(side="train", held_out=1)
    more = replace(run, alignment=alignment_pack.write(tmp_path / "pack"))
    alone, both = training_examples(run, split), training_examples(more, split)
    ids, answers = len(alone.sequences.ids), len(alone.targets)
    assert len(both) > len(alone) and np.array_equal(both.sequences.ids[:ids], alone.sequences.ids)
    added = both.targets[answers:]
    heads, weights = added["head"], added["weight"]
    assert {*heads} == {TAG, ASKS} and {*weights[heads == ASKS]} == {1.0}
    assert {*weights[heads == TAG]} <= {np.float32(one) for one in (0.375, 0.25, 0.05)}


def test_public_requests_become_training_examples(
    run: TrainingRun, pack: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = replace(run, alignment=pack)
    read: list[str] = []

    def read_pack(folder: Path, side: Side) -> PublicRows:
        read.append(side)
        return public_rows.read_public_rows(folder, side)

    monkeypatch.setattr(datasets, "read_public_rows", read_pack)
    split = Split(side="train", held_out=1)
    alone, more = (
        [example for n in range(_SLICES) for example in _slice_examples(one, split, n)]
        for one in (run, here)
    )
    added = Counter(map(repr, more)) - Counter(map(repr, alone))
    assert sum(added.values()) > 30
    assert read == ["train"] * _SLICES
    tokenizer = here.tokenizer()
    beside_request = [
        (words.count("openvalve"), {answer.value for answer in example.targets})
        for example in more
        for words in [re.sub("##| ", "", tokenizer.decode(example.sequence.ids))]
        if "user:openvalve" in words and "pumpwasserviced" in words
    ]
    assert (2, {0.0, 1.0}) in beside_request  # with a request of a third party in it,
    assert (1, {0.0}) in beside_request  # and with none


def test_data_without_scenarios_is_refused(run: TrainingRun, tmp_path: Path) -> None:
    for name in ("scenarios", "styles"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "none.jsonl").write_text("\n")
    with pytest.raises(ConfigError, match="no scenarios or no styles"):
        list(labelled_conversations(replace(run, data=tmp_path), Split()))


def test_several_workers_give_the_same_call_examples(run: TrainingRun) -> None:
    network = load_base(run.base)
    few = list(labelled_conversations(run, Split(side="validation", held_out=0)))[:4]
    found = []
    for workers in (1, 2):
        with parallel_map(replace(run, workers=workers)) as spread:
            found.append(predict_conversations(network, few, [], run.tokenizer(), spread))
    assert (found[0].calls["features"] == found[1].calls["features"]).all()


def test_workers_give_way_to_what_feeds_the_gpu(run: TrainingRun) -> None:
    with _workers(run) as pool:
        assert pool.submit(os.nice, 0).result() > os.nice(0)
