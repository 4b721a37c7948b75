"""Trains a network, and predicts with one."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional
from torch.nn.utils import clip_grad_norm_

from taskshield.judges.embedded.network.encoding import Encoded
from taskshield_lab.training.network.batches import TAG, Sequences, TokenExamples
from taskshield_lab.training.network.network import Network

_SORTED = 32_768
"""Examples that are sorted by length together, so that batches have little padding."""
_WARM_UP = 0.06
_SMOOTHING = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """How long and how fast a network is trained."""

    epochs: float = 1.25
    rate: float = 1.5e-4
    batch_tokens: int = 49_152
    batch_examples: int = 384
    seed: int = 0
    train_embeddings: bool = True
    """Whether the word embeddings are trained as well, or stay as in the encoder."""


def device() -> str:
    """The device that networks run on."""
    return "cuda" if torch.cuda.is_available() else "cpu"


def train(
    network: Network, examples: TokenExamples, schedule: Schedule, log: Callable[[str], None]
) -> None:
    """Train on all examples in an order that the seed decides."""
    torch.manual_seed(schedule.seed)
    rng = Random(schedule.seed)
    where = device()
    network.to(where).train()
    network.words.requires_grad_(schedule.train_embeddings)
    optimizer = torch.optim.AdamW(
        network.parameters(), lr=schedule.rate, weight_decay=0.01, fused=where == "cuda"
    )
    sizes = examples.sequences.sizes.tolist()
    steps = int(sum(1 for _ in _batches(sizes, schedule, Random(0))) * schedule.epochs)
    done = 0
    while done < steps:
        for batch in _batches(sizes, schedule, rng):
            pace = min(1.0, done / (_WARM_UP * steps)) * (1 - done / steps)
            for group in optimizer.param_groups:
                group["lr"] = schedule.rate * pace
            loss = _loss(network, examples, batch, where)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            done += 1
            if done % 500 == 0:
                log(f"Step {done} of {steps}, loss {loss.item():.4f}")
            if done >= steps:
                return


def predict(
    network: Network, sequences: Sequence[Encoded]
) -> tuple[list[list[float]], NDArray[np.float32]]:
    """The logits at the marks of each sequence, and the pair logits of each sequence."""
    where = device()
    network.to(where).eval()
    tags: list[list[float]] = [[] for _ in sequences]
    pairs = np.zeros((len(sequences), 2), np.float32)
    packed = Sequences.of(sequences)
    with torch.no_grad(), torch.autocast(where, dtype=torch.bfloat16, enabled=where == "cuda"):
        for batch in _batches(packed.sizes.tolist(), Schedule(batch_tokens=131_072), None):
            found, said = network(*_tensors(packed, batch, where))
            rows = found.float().cpu().numpy()
            pairs[batch] = said.float().cpu().numpy()
            for row, number in enumerate(batch):
                tags[number] = [float(rows[row, place]) for place, _ in sequences[number].marks]
    return tags, pairs


def predict_pairs(network: Network, sequences: Sequences) -> NDArray[np.float32]:
    """The pair logits of each sequence."""
    where = device()
    network.to(where).eval()
    pairs = np.zeros((len(sequences.sizes), 2), np.float32)
    with torch.no_grad(), torch.autocast(where, dtype=torch.bfloat16, enabled=where == "cuda"):
        for batch in _batches(sequences.sizes.tolist(), Schedule(batch_tokens=131_072), None):
            _, said = network(*_tensors(sequences, batch, where))
            pairs[batch] = said.float().cpu().numpy()
    return pairs


def _loss(
    network: Network, examples: TokenExamples, batch: Sequence[int], where: str
) -> torch.Tensor:
    rows, targets = examples.targets_of(batch)
    on_tags = targets["head"] == TAG
    with torch.autocast(where, dtype=torch.bfloat16, enabled=where == "cuda"):
        tags, pairs = network(*_tensors(examples.sequences, batch, where))
    tag, pair = targets[on_tags], targets[~on_tags]
    said = torch.cat(
        [
            tags[_on_device(rows[on_tags], where), _on_device(tag["position"], where)].float(),
            pairs[_on_device(rows[~on_tags], where), _on_device(pair["head"], where)].float(),
        ]
    )
    right, weight = (
        torch.from_numpy(np.concatenate([tag[name], pair[name]])).to(where, non_blocking=True)
        for name in ("value", "weight")
    )
    losses = functional.binary_cross_entropy_with_logits(
        said, right * (1 - 2 * _SMOOTHING) + _SMOOTHING, reduction="none"
    )
    return (losses * weight).sum() / len(batch)


def _tensors(sequences: Sequences, batch: Sequence[int], where: str) -> list[torch.Tensor]:
    return [_on_device(one, where) for one in sequences.batch(batch)]


def _on_device(numbers: NDArray[np.integer], where: str) -> torch.Tensor:
    """Indices of tensors on the device of the network."""
    return torch.from_numpy(numbers.astype(np.int64, copy=False)).to(where, non_blocking=True)


def _batches(sizes: Sequence[int], schedule: Schedule, rng: Random | None) -> Iterator[list[int]]:
    """The numbers of sequences in batches of similar length; in order without `rng`."""
    order = list(range(len(sizes)))
    if rng is not None:
        rng.shuffle(order)
    batches: list[list[int]] = []
    for begin in range(0, len(order), _SORTED):
        batch: list[int] = []
        for number in sorted(order[begin : begin + _SORTED], key=lambda number: sizes[number]):
            full = sizes[number] * (len(batch) + 1) > schedule.batch_tokens
            if batch and (full or len(batch) >= schedule.batch_examples):
                batches.append(batch)
                batch = []
            batch.append(number)
        batches.append(batch)
    if rng is not None:
        rng.shuffle(batches)
    yield from batches
