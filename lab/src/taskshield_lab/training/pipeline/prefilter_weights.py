"""What words say at a glance, learned from pieces of outputs: planted, or not."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch import nn
from torch.nn import functional

from taskshield.judges.embedded.network.encoding import output_ids, piece_ids
from taskshield.judges.embedded.network.prefilter import OPENING, Glance
from taskshield_lab.training.examples import public_pairs
from taskshield_lab.training.examples.examples import OutputExample, heard
from taskshield_lab.training.network.labelled_tokens import PLANTED
from taskshield_lab.training.pipeline import datasets
from taskshield_lab.training.pipeline.training_run import Log, TrainingRun, complete
from taskshield_lab.training.sources.splits import Split

Weights = NDArray[np.float16]
"""A row for each token."""
_READ = (0.05, 0.1, 0.2, 0.5)
"""Shares of the windows without planted words of which it is told how many of those with them would
be read, too."""
_PER_SCENARIO, _PER_TASK = 2, 1
"""Conversations that pieces are taken from: words hardly vary between two of one scenario."""
_OTHERS = 0.3
"""How much an imperative counts that is not planted: it looks like one that is."""
_EPOCHS = 4
_BATCH = 512
_RATE = 0.01


class Piece(NamedTuple):
    """Tokens of a piece, and what they are."""

    ids: tuple[int, ...]
    planted: bool
    weight: float


def made(course: TrainingRun, log: Log) -> Path:
    """The file of weights that goes with the network; what is done is not repeated."""
    path = course.out / "glance.npy"
    if not path.exists():
        log("learning what words say at a glance")
        tokenizer = course.tokenizer()
        found = pieces(outputs(course, course.split("all")), tokenizer)
        weights = fitted(found, tokenizer.get_vocab_size(), course.seed)
        with complete(path) as unfinished, unfinished.open("wb") as file:
            np.save(file, weights)
    return path


def examined(course: TrainingRun) -> dict[str, Any]:
    """How weights do on unseen domains and styles that were learned without the first fold."""
    tokenizer = course.tokenizer()
    fold = course.folds[0]
    learned = pieces(outputs(course, course.split("train", fold)), tokenizer)
    weights = fitted(learned, tokenizer.get_vocab_size(), course.seed)
    glance = Glance(weights.astype(np.float32))
    return figures(glance, outputs(course, course.split("validation", fold)), tokenizer)


def outputs(course: TrainingRun, split: Split) -> Iterator[OutputExample]:
    """Outputs of one side of the data, and of the second source where it is for learning."""
    few = replace(
        course,
        per_scenario=_PER_SCENARIO,
        per_task=_PER_TASK,
        validation_per_scenario=_PER_SCENARIO,
        validation_per_task=_PER_TASK,
    )
    for talk in datasets.talks(few, split):
        yield from heard(talk)
    if course.alignment is not None and split.side != "validation":
        yield from public_pairs.heard(
            course.alignment, Random(course.seed), public_pairs.DIRECTIVES
        )


def pieces(found: Iterable[OutputExample], tokenizer: Tokenizer) -> list[Piece]:
    """All pieces with words, each once."""
    rows: dict[Piece, None] = {}
    for output in found:
        for text, label in zip(output.pieces, output.labels, strict=True):
            ids = tuple(piece_ids(tokenizer, text))
            if ids and any(map(str.isalpha, text)):
                planted = label in PLANTED
                weight = 1.0 if planted or label == "plain" else _OTHERS
                rows[Piece(ids, planted, weight)] = None
    return list(rows)


def fitted(rows: list[Piece], words: int, seed: int) -> Weights:
    """A logistic regression on which tokens a piece has, and which it begins with."""
    torch.manual_seed(seed)
    rng = Random(seed)
    weights = nn.EmbeddingBag(2 * words, 1, mode="sum")
    nn.init.zeros_(weights.weight)
    bias = nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.Adam([weights.weight, bias], lr=_RATE)
    rows = list(rows)
    for epoch in range(_EPOCHS):
        rng.shuffle(rows)
        for group in optimizer.param_groups:
            group["lr"] = _RATE / 2**epoch
        for batch in _batches(rows):
            traits = [_traits(row, words) for row in batch]
            starts = np.cumsum([0, *map(len, traits[:-1])])
            tokens = [one for some in traits for one in some]
            said = weights(torch.tensor(tokens), torch.tensor(starts))
            loss = functional.binary_cross_entropy_with_logits(
                said[:, 0] + bias,
                torch.tensor([float(row.planted) for row in batch]),
                weight=torch.tensor([row.weight for row in batch]),
            )
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
    columns = weights.weight.detach().numpy().reshape(2, words)
    found: Weights = columns.T.astype(np.float16)
    return found


def figures(glance: Glance, found: Iterable[OutputExample], tokenizer: Tokenizer) -> dict[str, Any]:
    """Of windows with planted words, which share is read if so many of the others are."""
    loudness: dict[bool, list[float]] = {True: [], False: []}
    for output in found:
        for one in output_ids(tokenizer, output.heading, output.pieces):
            holds = any(output.labels[number] in PLANTED for _, number in one.marks)
            loudness[holds].append(glance.loudness(one))
    planted, others = np.array(loudness[True]), np.array(loudness[False])
    told = {
        str(share): float(np.mean(planted >= np.quantile(others, 1 - share))) for share in _READ
    }
    return {"with planted words": len(planted), "read where so many others are": told}


def _batches(rows: list[Piece]) -> Iterator[list[Piece]]:
    for start in range(0, len(rows), _BATCH):
        yield rows[start : start + _BATCH]


def _traits(row: Piece, words: int) -> list[int]:
    """What a piece has, by the numbers of weights: its tokens, then those that it begins with."""
    return [*{*row.ids}, *(words + one for one in {*row.ids[:OPENING]})]
