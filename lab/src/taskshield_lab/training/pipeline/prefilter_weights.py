"""Fits the weights of the prefilter, which picks the parts of very long outputs to read."""

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
from taskshield_lab.training.examples.output_examples import OutputExample, output_examples
from taskshield_lab.training.network.labelled_tokens import INJECTED
from taskshield_lab.training.pipeline import datasets
from taskshield_lab.training.pipeline.training_run import Log, TrainingRun, write_complete
from taskshield_lab.training.sources.splits import Split

Weights = NDArray[np.float16]
"""A row for each token."""
_READ = (0.05, 0.1, 0.2, 0.5)
"""Shares of the harmless windows that are read; for each the share of windows with injected text
that is read is reported."""
_PER_SCENARIO, _PER_TASK = 2, 1
"""Conversations to take segments from; those of one scenario have nearly the same words."""
_OTHERS = 0.3
"""How much an imperative counts that is not injected: it looks like one that is."""
_EPOCHS = 4
_BATCH = 512
_RATE = 0.01


class SegmentRow(NamedTuple):
    """The tokens of a segment, its label and its weight."""

    ids: tuple[int, ...]
    injected: bool
    weight: float


def prefilter_file(run: TrainingRun, log: Log) -> Path:
    """The file of the prefilter's weights, which are fitted if it does not exist."""
    path = run.out / "glance.npy"
    if not path.exists():
        log("Fitting the prefilter.")
        tokenizer = run.tokenizer()
        found = segment_rows(outputs(run, run.split("all")), tokenizer)
        weights = fit_weights(found, tokenizer.get_vocab_size(), run.seed)
        with write_complete(path) as unfinished, unfinished.open("wb") as file:
            np.save(file, weights)
    return path


def evaluate_prefilter(run: TrainingRun) -> dict[str, Any]:
    """Figures of weights fitted without the first fold, on that fold."""
    tokenizer = run.tokenizer()
    fold = run.folds[0]
    learned = segment_rows(outputs(run, run.split("train", fold)), tokenizer)
    weights = fit_weights(learned, tokenizer.get_vocab_size(), run.seed)
    glance = Glance(weights.astype(np.float32))
    return figures(glance, outputs(run, run.split("validation", fold)), tokenizer)


def outputs(run: TrainingRun, split: Split) -> Iterator[OutputExample]:
    """Outputs of one side of the data; in training those of the public data as well."""
    few = replace(
        run,
        per_scenario=_PER_SCENARIO,
        per_task=_PER_TASK,
        validation_per_scenario=_PER_SCENARIO,
        validation_per_task=_PER_TASK,
    )
    for conversation in datasets.labelled_conversations(few, split):
        yield from output_examples(conversation)
    if run.alignment is not None and split.side != "validation":
        yield from public_pairs.public_output_examples(
            run.alignment, Random(run.seed), public_pairs.DIRECTIVE_SOURCES
        )


def segment_rows(found: Iterable[OutputExample], tokenizer: Tokenizer) -> list[SegmentRow]:
    """All segments with words, each once."""
    rows: dict[SegmentRow, None] = {}
    for output in found:
        for text, label in zip(output.pieces, output.labels, strict=True):
            ids = tuple(piece_ids(tokenizer, text))
            if ids and any(map(str.isalpha, text)):
                injected = label in INJECTED
                weight = 1.0 if injected or label == "plain" else _OTHERS
                rows[SegmentRow(ids, injected, weight)] = None
    return list(rows)


def fit_weights(rows: list[SegmentRow], words: int, seed: int) -> Weights:
    """A logistic regression on the tokens of a segment and on those that it begins with."""
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
            indices = [_weight_indices(row, words) for row in batch]
            starts = np.cumsum([0, *map(len, indices[:-1])])
            tokens = [one for some in indices for one in some]
            said = weights(torch.tensor(tokens), torch.tensor(starts))
            loss = functional.binary_cross_entropy_with_logits(
                said[:, 0] + bias,
                torch.tensor([float(row.injected) for row in batch]),
                weight=torch.tensor([row.weight for row in batch]),
            )
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
    columns = weights.weight.detach().numpy().reshape(2, words)
    found: Weights = columns.T.astype(np.float16)
    return found


def figures(glance: Glance, found: Iterable[OutputExample], tokenizer: Tokenizer) -> dict[str, Any]:
    """The share of windows with injected text that is read, if so many of the others are."""
    loudness: dict[bool, list[float]] = {True: [], False: []}
    for output in found:
        for one in output_ids(tokenizer, output.heading, output.pieces):
            holds = any(output.labels[number] in INJECTED for _, number in one.marks)
            loudness[holds].append(glance.loudness(one))
    injected, others = np.array(loudness[True]), np.array(loudness[False])
    shares = {
        str(share): float(np.mean(injected >= np.quantile(others, 1 - share))) for share in _READ
    }
    return {"with planted words": len(injected), "read where so many others are": shares}


def _batches(rows: list[SegmentRow]) -> Iterator[list[SegmentRow]]:
    for start in range(0, len(rows), _BATCH):
        yield rows[start : start + _BATCH]


def _weight_indices(row: SegmentRow, words: int) -> list[int]:
    """The indices of a segment's weights: its tokens, then those that it begins with."""
    return [*{*row.ids}, *(words + one for one in {*row.ids[:OPENING]})]
