from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from taskshield.judges.embedded.network.prefilter import Glance
from taskshield_lab.training.examples.output_examples import Label, OutputExample
from taskshield_lab.training.pipeline import prefilter_weights
from taskshield_lab.training.pipeline.prefilter_weights import (
    SegmentRow,
    figures,
    fit_weights,
    outputs,
    segment_rows,
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
    found = segment_rows([*OUTPUTS, *OUTPUTS], TOKENIZER)
    assert len(found) == 19
    assert sum(row.injected for row in found) == 9
    assert {row.weight for row in found if not row.injected} == {1.0, 0.3}


def test_injected_text_scores_higher_than_other_text() -> None:
    glance = Glance(
        fit_weights(segment_rows(OUTPUTS, TOKENIZER) * 100, COUNT, seed=1).astype(np.float32)
    )
    told = figures(glance, OUTPUTS, TOKENIZER)
    assert told["with planted words"] == 1
    assert set(told["read where so many others are"].values()) == {1.0}


def test_the_same_seed_learns_the_same() -> None:
    rows = [
        SegmentRow((7, 8), True, 1.0),
        SegmentRow((9,), False, 1.0),
        SegmentRow((8, 9), False, 0.3),
    ] * 300
    assert (fit_weights(rows, COUNT, seed=1) == fit_weights(rows, COUNT, seed=1)).all()


def test_shares_are_counted_on_both_sides() -> None:
    table = np.zeros((COUNT, 2), np.float32)
    table[tiny_base.WORDS.index("valve"), 0] = 1
    harmless = [one(("a valve", "plain")), *[one(("a pump", "plain"))] * 9]
    found = [*harmless, one(("a valve", "attack")), one(("a b", "attack"))]
    told = figures(Glance(table), found, TOKENIZER)
    assert told["with planted words"] == 2
    shares = told["read where so many others are"]
    assert shares["0.05"] == shares["0.1"] == 0.5 and shares["0.5"] == 1.0


def test_the_second_source_is_for_learning_alone(run: TrainingRun, pack: Path) -> None:
    both = replace(run, alignment=pack)
    for split in (Split(), Split(side="train", held_out=1), Split(side="validation", held_out=1)):
        with_pack, without = (sum(1 for _ in outputs(c, split)) for c in (both, run))
        assert (with_pack > without) is (split.side != "validation")


def test_fitted_weights_are_saved_and_read_by_the_judge(
    run: TrainingRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    path = prefilter_weights.prefilter_file(run, told.append)
    Glance.read(path.read_bytes(), COUNT)
    monkeypatch.setattr(prefilter_weights, "fit_weights", None)
    assert prefilter_weights.prefilter_file(run, told.append) == path
    assert len(told) == 1


def test_unseen_domains_are_examined(run: TrainingRun) -> None:
    split = run.split("validation", run.folds[0])
    assert sum(1 for _ in outputs(run, split)) > 0
    told = prefilter_weights.evaluate_prefilter(run)
    assert told["with planted words"] > 0
    assert all(0 <= share <= 1 for share in told["read where so many others are"].values())
