"""What a course teaches and asks about."""

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
from taskshield_lab.training.distractors.public_rows import Pack, Side
from taskshield_lab.training.fitting.cross_validation import examined
from taskshield_lab.training.network.batches import TAG
from taskshield_lab.training.network.labelled_tokens import ASKS
from taskshield_lab.training.network.network import from_base
from taskshield_lab.training.pipeline import datasets
from taskshield_lab.training.pipeline.datasets import (
    _SLICES,
    _slice,
    _workers,
    lessons_for,
    spreading,
    talks,
)
from taskshield_lab.training.pipeline.training_run import TrainingRun
from taskshield_lab.training.sources.scenario_files import read_openings
from taskshield_lab.training.sources.splits import Split, fold_of_domain
from tests.lab.training import alignment_pack, few_scenarios, small_world


def test_lessons_are_the_same_whoever_makes_them(course: TrainingRun) -> None:
    split = Split(side="train", held_out=1)
    alone = lessons_for(course, split)
    assert dumps(alone) == dumps(lessons_for(replace(course, workers=2), split))
    assert dumps(alone) != dumps(lessons_for(replace(course, seed=2), split))
    assert len(alone) > 100


def test_lessons_ask_all_three_heads(course: TrainingRun) -> None:
    lessons = _slice(course, Split(), 0)
    assert {answer.head for one in lessons for answer in one.answers} == {None, 0, 1}


def test_slices_hold_every_scenario_once(course: TrainingRun) -> None:
    whole = [talk.id for talk in talks(course, Split())]
    parts = [talk.id for number in range(_SLICES) for talk in talks(course, Split(), number)]
    assert sorted(parts) == sorted(whole)
    told = [id for id in whole if not id.startswith(few_scenarios.OPENED)]
    assert len(told) == len(set(told)) == 12


def test_worlds_are_taught_beside_scenarios_unless_they_are_held_out(
    course: TrainingRun, tmp_path: Path
) -> None:
    data = tmp_path / "lab" / "data"
    shutil.copytree(course.data, data)
    small_world.write(data / "worlds")
    here = replace(course, data=data)
    fold = fold_of_domain("waterworks", 5)

    def told(split: Split) -> list[str]:
        return [talk.id for talk in talks(here, split) if talk.domain == "waterworks"]

    taught = told(Split())
    assert len(taught) == len(set(taught)) == 2 * course.per_task  # of two tasks
    sliced = [
        talk.id
        for number in range(_SLICES)
        for talk in talks(here, Split(), number)
        if talk.domain == "waterworks"
    ]
    assert sliced == taught
    assert not told(Split(side="train", held_out=fold)) and not told(Split(side="kept"))
    asked = told(Split(side="validation", held_out=fold))
    assert len(asked) == 2 * course.validation_per_task
    assert not told(Split(side="validation", held_out=(fold + 1) % 5))


def test_right_openings_are_taught_more_often_than_wrong_ones(course: TrainingRun) -> None:
    openings = read_openings(course.data / "openings")
    right = Counter(f"{one.id}:right-{n}" for one in openings for n in range(len(one.right)))
    wrong = Counter(f"{one.id}:wrong-{n}" for one in openings for n in range(len(one.wrong)))
    ids = {*right, *wrong}
    taught, asked = (
        Counter(talk.id for talk in talks(course, split) if talk.id in ids)
        for split in (Split(), Split(side="validation", held_out=0))
    )
    assert taught == right + right + right + wrong
    assert asked == Counter(id for id in ids if id.startswith(few_scenarios.OPENED_HELD_OUT))


def test_validation_is_told_otherwise_than_lessons(course: TrainingRun) -> None:
    """Other domains, and another seed, so that nothing is asked about that was taught."""
    kept = list(talks(course, Split(side="validation", held_out=0)))
    assert {talk.scenario for talk in kept} == few_scenarios.ASKED
    told = [talk for talk in kept if talk.scenario in few_scenarios.HELD_OUT]
    assert len(told) == 2 * len(few_scenarios.HELD_OUT)
    assert len({talk.id for talk in kept}) == len(kept)
    taught = list(talks(course, Split(side="train", held_out=0)))
    assert all(fold_of_domain(talk.domain, 5) != 0 for talk in taught)
    opened = {talk.scenario for talk in taught} & {*few_scenarios.OPENED}
    assert len(opened) == 2 and sum(talk.scenario not in opened for talk in taught) == 8


def test_the_second_source_is_taught_after_the_first(course: TrainingRun, tmp_path: Path) -> None:
    split = Split(side="train", held_out=1)
    more = replace(course, alignment=alignment_pack.write(tmp_path / "pack"))
    alone, both = lessons_for(course, split), lessons_for(more, split)
    ids, answers = len(alone.sequences.ids), len(alone.answers)
    assert len(both) > len(alone) and np.array_equal(both.sequences.ids[:ids], alone.sequences.ids)
    added = both.answers[answers:]
    heads, weights = added["head"], added["weight"]
    assert {*heads} == {TAG, ASKS} and {*weights[heads == ASKS]} == {1.0}
    assert {*weights[heads == TAG]} <= {np.float32(one) for one in (0.375, 0.25, 0.05)}


def test_public_wishes_are_taught(
    course: TrainingRun, pack: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = replace(course, alignment=pack)
    read: list[str] = []

    def read_pack(folder: Path, side: Side) -> Pack:
        read.append(side)
        return public_rows.read_pack(folder, side)

    monkeypatch.setattr(datasets, "read_pack", read_pack)
    split = Split(side="train", held_out=1)
    alone, more = (
        [lesson for n in range(_SLICES) for lesson in _slice(one, split, n)]
        for one in (course, here)
    )
    added = Counter(map(repr, more)) - Counter(map(repr, alone))
    assert sum(added.values()) > 30
    assert read == ["train"] * _SLICES
    tokenizer = here.tokenizer()
    beside_request = [
        (words.count("openvalve"), {answer.right for answer in lesson.answers})
        for lesson in more
        for words in [re.sub("##| ", "", tokenizer.decode(lesson.sequence.ids))]
        if "user:openvalve" in words and "pumpwasserviced" in words
    ]
    assert (2, {0.0, 1.0}) in beside_request  # with somebody's wish in it,
    assert (1, {0.0}) in beside_request  # and with none


def test_data_without_scenarios_is_refused(course: TrainingRun, tmp_path: Path) -> None:
    for name in ("scenarios", "styles"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "none.jsonl").write_text("\n")
    with pytest.raises(ConfigError, match="no scenarios or no styles"):
        list(talks(replace(course, data=tmp_path), Split()))


def test_conversations_are_examined_alike_by_several_workers(course: TrainingRun) -> None:
    network = from_base(course.base)
    few = list(talks(course, Split(side="validation", held_out=0)))[:4]
    found = []
    for workers in (1, 2):
        with spreading(replace(course, workers=workers)) as spread:
            found.append(examined(network, few, [], course.tokenizer(), spread))
    assert (found[0].calls["features"] == found[1].calls["features"]).all()


def test_workers_give_way_to_what_feeds_the_gpu(course: TrainingRun) -> None:
    with _workers(course) as pool:
        assert pool.submit(os.nice, 0).result() > os.nice(0)
