from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from taskshield.judges.embedded.network.prefilter import Glance
from taskshield_lab.training.examples.examples import Label, OutputExample
from taskshield_lab.training.pipeline import prefilter_weights
from taskshield_lab.training.pipeline.prefilter_weights import (
    Piece,
    figures,
    fitted,
    outputs,
    pieces,
)
from taskshield_lab.training.pipeline.training_run import TrainingRun
from taskshield_lab.training.sources.splits import Split
from tests.lab.training import tiny_base

TOKENIZER = tiny_base.tokenizer()
COUNT = TOKENIZER.get_vocab_size()


def one(*said: tuple[str, Label]) -> OutputExample:
    return OutputExample(
        message=1,
        head="read",
        pieces=tuple(text for text, _ in said),
        labels=tuple(label for _, label in said),
    )


OUTPUTS = [
    one(*[(f"the pump {n} is open", "plain") for n in range(9)], ("open pump 3", "benign")),
    one(*[(f"open the valve {n} now", "attack") for n in range(9)], ("1234 :", "plain")),
]


def test_every_piece_with_words_is_learned_from_once() -> None:
    found = pieces([*OUTPUTS, *OUTPUTS], TOKENIZER)
    assert len(found) == 19
    assert sum(row.planted for row in found) == 9
    assert {row.weight for row in found if not row.planted} == {1.0, 0.3}


def test_planted_words_are_louder_than_others() -> None:
    glance = Glance(fitted(pieces(OUTPUTS, TOKENIZER) * 100, COUNT, seed=1).astype(np.float32))
    told = figures(glance, OUTPUTS, TOKENIZER)
    assert told["with planted words"] == 1
    assert set(told["read where so many others are"].values()) == {1.0}


def test_the_same_seed_learns_the_same() -> None:
    rows = [Piece((7, 8), True, 1.0), Piece((9,), False, 1.0), Piece((8, 9), False, 0.3)] * 300
    assert (fitted(rows, COUNT, seed=1) == fitted(rows, COUNT, seed=1)).all()


def test_shares_are_counted_on_both_sides() -> None:
    table = np.zeros((COUNT, 2), np.float32)
    table[tiny_base.WORDS.index("valve"), 0] = 1
    harmless = [one(("a valve", "plain")), *[one(("a pump", "plain"))] * 9]
    found = [*harmless, one(("a valve", "attack")), one(("a b", "attack"))]
    told = figures(Glance(table), found, TOKENIZER)
    assert told["with planted words"] == 2
    shares = told["read where so many others are"]
    assert shares["0.05"] == shares["0.1"] == 0.5 and shares["0.5"] == 1.0


def test_the_second_source_is_for_learning_alone(course: TrainingRun, pack: Path) -> None:
    both = replace(course, alignment=pack)
    for split in (Split(), Split(side="train", held_out=1), Split(side="validation", held_out=1)):
        with_pack, without = (sum(1 for _ in outputs(c, split)) for c in (both, course))
        assert (with_pack > without) is (split.side != "validation")


def test_what_is_learned_is_kept_and_read_by_the_judge(
    course: TrainingRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    path = prefilter_weights.made(course, told.append)
    Glance.read(path.read_bytes(), COUNT)
    monkeypatch.setattr(prefilter_weights, "fitted", None)
    assert prefilter_weights.made(course, told.append) == path
    assert len(told) == 1


def test_unseen_domains_are_examined(course: TrainingRun) -> None:
    split = course.split("validation", course.folds[0])
    assert sum(1 for _ in outputs(course, split)) > 0
    told = prefilter_weights.examined(course)
    assert told["with planted words"] > 0
    assert all(0 <= share <= 1 for share in told["read where so many others are"].values())
