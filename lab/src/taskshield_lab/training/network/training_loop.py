"""Teaching a network, and asking it."""

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
"""Lessons that are sorted by length together, so that batches hold little padding."""
_WARM_UP = 0.06
_SMOOTHING = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """How long and how fast a network is taught."""

    epochs: float = 1.25
    rate: float = 1.5e-4
    batch_tokens: int = 49_152
    batch_lessons: int = 384
    seed: int = 0
    words: bool = True
    """Whether the embeddings of words are taught as well, or stay as the encoder has them."""


def device() -> str:
    """Where networks run."""
    return "cuda" if torch.cuda.is_available() else "cpu"


def teach(
    network: Network, lessons: TokenExamples, schedule: Schedule, log: Callable[[str], None]
) -> None:
    """Teach all lessons, in an order that the seed decides."""
    torch.manual_seed(schedule.seed)
    rng = Random(schedule.seed)
    where = device()
    network.to(where).train()
    network.words.requires_grad_(schedule.words)
    optimizer = torch.optim.AdamW(
        network.parameters(), lr=schedule.rate, weight_decay=0.01, fused=where == "cuda"
    )
    sizes = lessons.sequences.sizes.tolist()
    steps = int(sum(1 for _ in _batches(sizes, schedule, Random(0))) * schedule.epochs)
    done = 0
    while done < steps:
        for batch in _batches(sizes, schedule, rng):
            pace = min(1.0, done / (_WARM_UP * steps)) * (1 - done / steps)
            for group in optimizer.param_groups:
                group["lr"] = schedule.rate * pace
            loss = _loss(network, lessons, batch, where)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            done += 1
            if done % 500 == 0:
                log(f"step {done} of {steps}, loss {loss.item():.4f}")
            if done >= steps:
                return


def ask(
    network: Network, sequences: Sequence[Encoded]
) -> tuple[list[list[float]], NDArray[np.float32]]:
    """What the network says: of each marked place of each sequence, and of each sequence."""
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


def _loss(
    network: Network, lessons: TokenExamples, batch: Sequence[int], where: str
) -> torch.Tensor:
    rows, answers = lessons.answers_in(batch)
    on_tags = answers["head"] == TAG
    with torch.autocast(where, dtype=torch.bfloat16, enabled=where == "cuda"):
        tags, pairs = network(*_tensors(lessons.sequences, batch, where))
    tag, pair = answers[on_tags], answers[~on_tags]
    said = torch.cat(
        [
            tags[_there(rows[on_tags], where), _there(tag["place"], where)].float(),
            pairs[_there(rows[~on_tags], where), _there(pair["head"], where)].float(),
        ]
    )
    right, weight = (
        torch.from_numpy(np.concatenate([tag[name], pair[name]])).to(where, non_blocking=True)
        for name in ("right", "weight")
    )
    losses = functional.binary_cross_entropy_with_logits(
        said, right * (1 - 2 * _SMOOTHING) + _SMOOTHING, reduction="none"
    )
    return (losses * weight).sum() / len(batch)


def _tensors(sequences: Sequences, batch: Sequence[int], where: str) -> list[torch.Tensor]:
    return [_there(one, where) for one in sequences.batch(batch)]


def _there(numbers: NDArray[np.integer], where: str) -> torch.Tensor:
    """Numbers that index tensors, where the network runs."""
    return torch.from_numpy(numbers.astype(np.int64, copy=False)).to(where, non_blocking=True)


def _batches(sizes: Sequence[int], schedule: Schedule, rng: Random | None) -> Iterator[list[int]]:
    """Sequences by number, like with like; in their own order without a source of chance."""
    order = list(range(len(sizes)))
    if rng is not None:
        rng.shuffle(order)
    batches: list[list[int]] = []
    for begin in range(0, len(order), _SORTED):
        batch: list[int] = []
        for number in sorted(order[begin : begin + _SORTED], key=lambda number: sizes[number]):
            full = sizes[number] * (len(batch) + 1) > schedule.batch_tokens
            if batch and (full or len(batch) >= schedule.batch_lessons):
                batches.append(batch)
                batch = []
            batch.append(number)
        batches.append(batch)
    if rng is not None:
        rng.shuffle(batches)
    yield from batches
