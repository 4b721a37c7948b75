"""Trains networks, each without one family of sources, and evaluates them on what was left out.

`python -m taskshield_lab.training.authorisation.train_networks --help`
"""

import argparse
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from taskshield_lab.training.authorisation.folds import is_left_out
from taskshield_lab.training.authorisation.token_rows import (
    TokenRows,
    evaluation_rows,
    read_situations,
    training_rows,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One network."""

    name: str
    base: Path
    fold: int | None
    """The family of sources that is left out; None for the released network."""
    seed: int
    epochs: float
    rate: float


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--situations", type=Path, nargs="+", required=True)
    parser.add_argument("--evaluated", type=Path, nargs="*", default=[], help="never trained on")
    parser.add_argument("--bases", type=Path, required=True, help="folder of folders of encoders")
    parser.add_argument(
        "--jobs", nargs="+", required=True, metavar="BASE/FOLD/SEED", help='FOLD may be "all"'
    )
    parser.add_argument("--epochs", type=float, default=1.5)
    parser.add_argument("--rate", type=float, default=1.5e-4)
    parser.add_argument("--parallel", type=int, default=4)
    parser.add_argument("--workers", type=int, default=16)
    parser.add_argument("--most-asked", type=int, default=350, help="situations of a source")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    jobs = []
    for text in given.jobs:
        base, fold, seed = text.split("/")
        jobs.append(
            Job(
                name=text.replace("/", "-"),
                base=given.bases / base,
                fold=None if fold == "all" else int(fold),
                seed=int(seed),
                epochs=given.epochs,
                rate=given.rate,
            )
        )
    processes = get_context("fork")  # the situations are read and tokenized once
    _DATA.load(given)
    with ProcessPoolExecutor(
        given.parallel, mp_context=processes, max_tasks_per_child=None
    ) as pool:
        for line in pool.map(_run, jobs, [given.out] * len(jobs)):
            print(line, flush=True)


class _Data:
    """What all jobs share, read before the first."""

    def load(self, given: argparse.Namespace) -> None:
        """Read and tokenize."""
        began = time.monotonic()
        self.situations = read_situations(given.situations)
        asked = read_situations(given.evaluated)
        # All encoders here share one vocabulary.
        base = given.bases / given.jobs[0].split("/")[0]
        self.training = training_rows(self.situations, base, given.workers)
        counts: dict[str, int] = {}
        kept = []
        for number, one in enumerate(self.situations):
            counts[one["source"]] = counts.get(one["source"], 0) + 1
            if counts[one["source"]] % _spread(one["source"]) == 0:
                kept.append(number)
        self.numbers = np.array(kept)
        self.evaluation = evaluation_rows(
            [self.situations[number] for number in kept] + asked, base, given.workers
        )
        self.asked_from = len(kept)
        tokens = int(self.training.examples.sequences.sizes.sum())
        print(
            f"{len(self.situations)} situations, {len(self.training.meta)} rows,"
            f" {tokens / 1e6:.0f} M tokens, {len(self.evaluation.meta)} to ask,"
            f" {time.monotonic() - began:.0f} s",
            flush=True,
        )

    def left_out(self, job: Job) -> np.ndarray:
        """Which situations the job leaves out."""
        return np.array(
            [is_left_out(one["source"], one["id"], job.fold) for one in self.situations]
        )


_DATA = _Data()


def _spread(source: str) -> int:
    """One of so many situations is evaluated."""
    return 12 if source.startswith("own:") else 4


def _run(job: Job, out: Path) -> str:
    import torch

    from taskshield_lab.training.network.network import load_base, save_network
    from taskshield_lab.training.network.training_loop import Schedule, predict_pairs, train

    began = time.monotonic()
    left_out = _DATA.left_out(job)
    rows: TokenRows = _DATA.training.taken(~left_out[_DATA.training.meta["situation"]])
    network = load_base(job.base)
    schedule = Schedule(
        epochs=job.epochs, rate=job.rate, seed=job.seed, batch_tokens=65_536, batch_examples=1024
    )
    train(network, rows.examples, schedule, lambda line: print(job.name, line, flush=True))
    trained = time.monotonic() - began
    meta = _DATA.evaluation.meta
    numbers = np.concatenate(
        [_DATA.numbers, np.arange(meta["situation"].max() + 1) + len(left_out)]
    )
    about = numbers[meta["situation"]]
    wanted = np.array([n >= len(left_out) or left_out[n] for n in about])
    chosen = _DATA.evaluation.taken(wanted)
    logits = predict_pairs(network, chosen.examples.sequences)[:, 0]
    np.savez_compressed(
        out / f"{job.name}.npz", meta=chosen.meta, about=about[wanted], logits=logits
    )
    save_network(network, out / f"{job.name}.safetensors")
    memory = torch.cuda.max_memory_allocated() / 2**30 if torch.cuda.is_available() else 0.0
    return (
        f"{job.name}: {len(rows.meta)} rows, {trained:.0f} s to train,"
        f" {time.monotonic() - began:.0f} s, {memory:.1f} GiB"
    )


if __name__ == "__main__":
    main()
