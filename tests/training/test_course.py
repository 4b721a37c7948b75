import re
import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from pickle import dumps

import numpy as np
import pytest
import torch
from torch import Tensor

from taskshield.core.errors import ConfigError
from taskshield.training import course as module
from taskshield.training import public_rows
from taskshield.training.columns import TAG, Lessons
from taskshield.training.course import (
    Course,
    check_kept,
    examine_folds,
    examine_foreign,
    examine_kept,
    final_network,
    teach_ahead,
)
from taskshield.training.folds import Findings, examined
from taskshield.training.labelled import LabelledConversation
from taskshield.training.learning import Schedule
from taskshield.training.lessons import ASKS
from taskshield.training.network import Network, from_base
from taskshield.training.public_rows import Pack, Side
from taskshield.training.scenario_files import read_openings
from taskshield.training.splits import Split, fold_of_domain
from tests.training import alignment_pack, few_scenarios, small_world, tiny_base
from tests.training.made_findings import findings

HELD_OUT = {*few_scenarios.HELD_OUT, *few_scenarios.OPENED_HELD_OUT}
"""What fold 0 is asked about."""


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    folder = tmp_path_factory.mktemp("course")
    return Course(
        data=few_scenarios.write(folder / "data"),
        base=tiny_base.write(folder / "base"),
        alignment=None,
        out=folder,
        folds=(0,),
        per_scenario=1,
        validation_per_scenario=2,
    )


def quiet(_: str) -> None:
    pass


def test_lessons_are_the_same_whoever_makes_them(course: Course) -> None:
    split = Split(side="train", held_out=1)
    alone = module.lessons_for(course, split)
    assert dumps(alone) == dumps(module.lessons_for(replace(course, workers=2), split))
    assert dumps(alone) != dumps(module.lessons_for(replace(course, seed=2), split))
    assert len(alone) > 100


def test_slices_hold_every_scenario_once(course: Course) -> None:
    whole = [talk.id for talk in module._talks(course, Split())]
    parts = [
        talk.id
        for number in range(module._SLICES)
        for talk in module._talks(course, Split(), number)
    ]
    assert sorted(parts) == sorted(whole)
    told = [id for id in whole if not id.startswith(few_scenarios.OPENED)]
    assert len(told) == len(set(told)) == 12


def test_worlds_are_taught_beside_scenarios_unless_they_are_held_out(
    course: Course, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    shutil.copytree(course.data, data)
    small_world.write(data / "worlds")
    here = replace(course, data=data)
    fold = fold_of_domain("waterworks", 5)

    def told(split: Split) -> list[str]:
        talks = module._talks(here, split)
        return [talk.id for talk in talks if talk.domain == "waterworks"]

    taught = told(Split())
    assert len(taught) == len(set(taught)) == 2 * 2 * course.per_scenario  # of two tasks
    sliced = [
        talk.id
        for number in range(module._SLICES)
        for talk in module._talks(here, Split(), number)
        if talk.domain == "waterworks"
    ]
    assert sliced == taught
    assert not told(Split(side="train", held_out=fold)) and not told(Split(side="kept"))
    asked = told(Split(side="validation", held_out=fold))
    assert len(asked) == 2 * 2 * course.validation_per_scenario
    assert not told(Split(side="validation", held_out=(fold + 1) % 5))


def test_right_openings_are_taught_more_often_than_wrong_ones(course: Course) -> None:
    openings = read_openings(course.data / "openings")
    right = Counter(f"{one.id}:right-{n}" for one in openings for n in range(len(one.right)))
    wrong = Counter(f"{one.id}:wrong-{n}" for one in openings for n in range(len(one.wrong)))
    ids = {*right, *wrong}
    taught, asked = (
        Counter(talk.id for talk in module._talks(course, split) if talk.id in ids)
        for split in (Split(), Split(side="validation", held_out=0))
    )
    assert taught == right + right + right + wrong
    assert asked == Counter(id for id in ids if id.startswith(few_scenarios.OPENED_HELD_OUT))


def test_validation_is_told_otherwise_than_lessons(course: Course) -> None:
    """Other domains, and another seed, so that nothing is asked about that was taught."""
    kept = list(module._talks(course, Split(side="validation", held_out=0)))
    assert {talk.scenario for talk in kept} == HELD_OUT
    told = [talk for talk in kept if talk.scenario in few_scenarios.HELD_OUT]
    assert len(told) == 2 * len(few_scenarios.HELD_OUT)
    assert len({talk.id for talk in kept}) == len(kept)
    taught = list(module._talks(course, Split(side="train", held_out=0)))
    assert all(fold_of_domain(talk.domain, 5) != 0 for talk in taught)
    opened = {talk.scenario for talk in taught} & {*few_scenarios.OPENED}
    assert len(opened) == 2 and sum(talk.scenario not in opened for talk in taught) == 8


def test_what_is_kept_is_never_taught_and_asked_of_the_final_network(
    course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = {"com-sub-family", "counters-02"}
    here = replace(course, out=tmp_path, networks=1, kept=tuple(sorted(kept)))
    taught: list[int] = []
    asked: list[tuple[float, set[str], object]] = []

    def teach(network: Network, lessons: Lessons, *_: object) -> None:
        taught.append(len(lessons))
        with torch.no_grad():
            network.tags.bias.fill_(float(len(taught)))

    def examined(
        network: Network, talks: Sequence[LabelledConversation], definitions: object, *_: object
    ) -> Findings:
        asked.append((network.tags.bias.item(), {talk.scenario for talk in talks}, definitions))
        return findings(len(asked))

    monkeypatch.setattr(module, "teach", teach)
    monkeypatch.setattr(module, "examined", examined)
    (fold,), last = examine_folds(here, quiet), examine_kept(here, quiet)
    assert last is not None and examine_kept(course, quiet) is None
    assert [(bias, scenarios) for bias, scenarios, _ in asked] == [
        (1.0, HELD_OUT - kept),
        (2.0, kept),
    ]
    assert asked[0][2] and not asked[1][2]
    assert final_network(here, quiet).tags.bias.item() == 2.0
    everything = {talk.scenario for talk in module._talks(here, here.split("all"))}
    assert not everything & kept and len(everything) == 12 + 4 - len(kept)
    for found, seed in ((fold, 1), (last, 2)):
        assert (found.calls["features"] == findings(seed).calls["features"]).all()


@pytest.mark.parametrize(
    ("kept", "said"),
    [
        (("com-sub", "nowhere"), "begins with 'nowhere'"),
        (("counters",), "must be a scenario"),
    ],
)
def test_what_is_to_be_kept_must_be_there(course: Course, kept: tuple[str, ...], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        check_kept(replace(course, kept=kept))
    check_kept(replace(course, kept=("com-sub", "counters")))
    check_kept(course)


def test_the_second_source_is_taught_after_the_first(course: Course, tmp_path: Path) -> None:
    split = Split(side="train", held_out=1)
    more = replace(course, alignment=alignment_pack.write(tmp_path / "pack"))
    alone, both = module.lessons_for(course, split), module.lessons_for(more, split)
    ids, answers = len(alone.sequences.ids), len(alone.answers)
    assert len(both) > len(alone) and np.array_equal(both.sequences.ids[:ids], alone.sequences.ids)
    added = both.answers[answers:]
    heads, weights = added["head"], added["weight"]
    assert {*heads} == {TAG, ASKS} and {*weights[heads == ASKS]} == {1.0}
    assert {*weights[heads == TAG]} <= {np.float32(one) for one in (0.375, 0.25, 0.05)}


def test_public_wishes_are_taught_and_foreign_ones_asked_of_the_final_network(
    course: Course, taught: list[Split], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [
        alignment_pack.pair(n, goal=[f"Open valve V-{n}55 to 3{n}.5 percent."], split=side, task=n)
        for n, side in enumerate(("train",) * 16 + ("valid",) * 4)
    ]
    texts = [
        alignment_pack.text(n, label="benign", split=side)
        for n, side in enumerate(("train", "valid"))
    ]
    folder = alignment_pack.write(tmp_path / "pack", pairs=rows, texts=texts)
    here = replace(course, out=tmp_path, networks=1, alignment=folder)
    read: list[str] = []

    def read_pack(folder: Path, side: Side) -> Pack:
        read.append(side)
        return public_rows.read_pack(folder, side)

    monkeypatch.setattr(module, "read_pack", read_pack)
    split = Split(side="train", held_out=1)
    alone, more = (
        [lesson for n in range(module._SLICES) for lesson in module._slice(one, split, n)]
        for one in (course, here)
    )
    added = Counter(map(repr, more)) - Counter(map(repr, alone))
    assert sum(added.values()) > 30
    assert read == ["train"] * module._SLICES
    tokenizer = here.tokenizer()
    beside_request = [
        (words.count("openvalve"), {answer.right for answer in lesson.answers})
        for lesson in more
        for words in [re.sub("##| ", "", tokenizer.decode(lesson.sequence.ids))]
        if "user:openvalve" in words and "pumpwasserviced" in words
    ]
    assert (2, {0.0, 1.0}) in beside_request  # with somebody's wish in it,
    assert (1, {0.0}) in beside_request  # and with none

    asked: list[tuple[list[LabelledConversation], object]] = []
    limits = findings(1).limits

    def examined(network: Network, talks: list[LabelledConversation], *more: object) -> Findings:
        asked.append((talks, more[-1]))
        return findings(1)

    monkeypatch.setattr(module, "examined", examined)
    assert examine_foreign(course, limits, quiet) is None
    bare = replace(here, alignment=alignment_pack.write(tmp_path / "no valid rows"))
    assert examine_foreign(bare, limits, quiet) is None
    for _ in range(2):
        assert examine_foreign(here, limits, quiet) is not None
    ((talks, given),) = asked
    assert given is limits
    assert {talk.scenario for talk in talks} == {"p16", "p17", "p18", "p19"}
    assert [split.side for split in taught] == ["all"]


def test_data_without_scenarios_is_refused(course: Course, tmp_path: Path) -> None:
    for name in ("scenarios", "styles"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "none.jsonl").write_text("\n")
    with pytest.raises(ConfigError, match="no scenarios or no styles"):
        list(module._talks(replace(course, data=tmp_path), Split()))


def test_a_file_is_not_there_before_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "fold-0.npz"
    with pytest.raises(KeyboardInterrupt), module._complete(path) as made:
        made.write_text("half of")
        raise KeyboardInterrupt
    assert not path.exists()
    with module._complete(path) as made:
        made.write_text("all of it")
    assert path.read_text() == "all of it"
    assert [one.name for one in tmp_path.iterdir()] == ["fold-0.npz"]


@pytest.fixture
def taught(monkeypatch: pytest.MonkeyPatch) -> list[Split]:
    """What networks were taught, each without any lesson."""
    splits: list[Split] = []

    def plain(course: Course, split: Split, log: object) -> Network:
        splits.append(split)
        return from_base(course.base)

    monkeypatch.setattr(module, "_taught", plain)
    return splits


def test_a_fold_is_taught_without_what_it_is_asked_about(
    course: Course, taught: list[Split], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[set[str]] = []

    def examined(network: Network, talks: Sequence[LabelledConversation], *_: object) -> Findings:
        asked.append({talk.scenario for talk in talks})
        return findings(1)

    monkeypatch.setattr(module, "examined", examined)
    here = replace(course, out=tmp_path, folds=(0, 4), networks=1)
    first = examine_folds(here, quiet)
    assert [(split.side, split.held_out) for split in taught] == [("train", 0), ("train", 4)]
    assert asked[0] == HELD_OUT and not asked[0] & asked[1]
    names = [f"fold-{number}.{kind}" for number in (0, 4) for kind in ("npz", "safetensors")]
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    again = examine_folds(here, quiet)
    assert len(taught) == 2
    for one, other in zip(first, again, strict=True):
        assert (one.calls["features"] == other.calls["features"]).all()


def test_a_broken_examination_is_done_again_with_the_same_network(
    course: Course, taught: list[Split], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> Findings:
        raise KeyboardInterrupt

    here = replace(course, out=tmp_path, networks=1)
    monkeypatch.setattr(module, "examined", broken)
    with pytest.raises(KeyboardInterrupt):
        examine_folds(here, quiet)
    monkeypatch.setattr(module, "examined", lambda *_: findings(1))
    assert len(examine_folds(here, quiet)) == 1 and len(taught) == 1


def test_a_network_is_the_mean_of_several_that_were_taught_otherwise(
    course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[dict[str, Tensor]] = []
    seen: list[tuple[int, int]] = []

    def taught(network: Network, lessons: Lessons, schedule: Schedule, _: object) -> None:
        begun.append({name: one.clone() for name, one in network.state_dict().items()})
        seen.append((hash(dumps(lessons)), schedule.seed))
        with torch.no_grad():
            network.tags.bias.fill_(float(len(begun)))

    monkeypatch.setattr(module, "teach", taught)
    mean = final_network(replace(course, out=tmp_path, networks=3), quiet)
    assert mean.tags.bias.item() == 2.0
    assert all((one[name] == begun[0][name]).all() for one in begun for name in one)
    assert len({lessons for lessons, _ in seen}) == 3
    assert [seed for _, seed in seen] == [0, 1, 2]


def test_the_first_of_every_mean_is_taught_before_the_second_of_any(
    course: Course, tmp_path: Path
) -> None:
    here = replace(course, out=tmp_path, folds=(0, 1, 2), networks=2)
    (tmp_path / "fold-1.npz").touch()  # it was asked already
    (tmp_path / "fold-2.safetensors").touch()  # it was taught already
    assert [(name, split, number) for *_, name, split, number in module._lacking(here)] == [
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


def test_networks_are_the_same_whether_taught_at_once_or_one_by_one(
    course: Course, tmp_path: Path
) -> None:
    short = replace(course, networks=2, schedule=Schedule(epochs=0.05, batch_lessons=8))
    alone, ahead = (replace(short, out=tmp_path / name) for name in ("alone", "ahead"))
    for folder in (alone.out, ahead.out):
        folder.mkdir()
    (ahead.out / "fold-0.npz").touch()  # its network is not needed any more
    told: list[str] = []
    teach_ahead(replace(ahead, at_once=2, workers=2), told.append)
    assert told[0] == "teaching 2 networks, 2 at once"
    assert [line for line in told if "teaching network" in line] == [
        "network: teaching network 1 of 2",
        "network: teaching network 2 of 2",
    ]
    parts = ["network.0.safetensors", "network.1.safetensors"]
    assert sorted(path.name for path in ahead.out.iterdir()) == ["fold-0.npz", *parts]
    heard: list[str] = []
    one, other = final_network(alone, quiet), final_network(ahead, heard.append)
    assert heard == []  # both were there
    moved, apart = distance(one, from_base(course.base)), distance(one, other)
    assert apart < moved / 100  # another process rounds otherwise, in the last bits
    assert [path.name for path in alone.out.iterdir()] == ["network.safetensors"]
    teach_ahead(replace(ahead, at_once=2), heard.append)
    assert heard == []  # and nothing is left to do


def test_the_final_network_is_taught_once_with_everything(
    course: Course, taught: list[Split], tmp_path: Path
) -> None:
    here = replace(course, out=tmp_path, networks=1)
    one, same = final_network(here, quiet), final_network(here, quiet)
    assert [split.side for split in taught] == ["all"]
    for name, tensor in one.state_dict().items():
        assert (tensor == same.state_dict()[name]).all()


def test_conversations_are_examined_alike_by_several_workers(course: Course) -> None:
    network = from_base(course.base)
    talks = list(module._talks(course, Split(side="validation", held_out=0)))[:4]
    found = []
    for workers in (1, 2):
        with module.spreading(replace(course, workers=workers)) as spread:
            found.append(examined(network, talks, [], course.tokenizer(), spread))
    assert (found[0].calls["features"] == found[1].calls["features"]).all()


def test_lessons_ask_all_three_heads(course: Course) -> None:
    lessons = module._slice(course, Split(), 0)
    assert {answer.head for one in lessons for answer in one.answers} == {None, 0, 1}
