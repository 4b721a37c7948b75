"""Trains the networks of a run; each may be the mean of several."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

from taskshield_lab.training.network.network import (
    Network,
    load_base,
    load_network,
    mean_network,
    save_network,
)
from taskshield_lab.training.network.training_loop import train
from taskshield_lab.training.pipeline.datasets import training_examples
from taskshield_lab.training.pipeline.training_run import Log, TrainingRun, write_complete
from taskshield_lab.training.sources.splits import Split


def final_network(run: TrainingRun, log: Log) -> Network:
    """The network trained on all data, from its file if that exists."""
    return trained_network(run, "network", run.split("all"), log)


def trained_network(run: TrainingRun, name: str, split: Split, log: Log) -> Network:
    """The network of this name trained on one side of the data, from its file if that exists."""
    path = run.out / f"{name}.safetensors"
    if not path.exists():
        parts = [_train_part(run, name, split, number, log) for number in range(run.networks)]
        with write_complete(path) as made:
            save_network(mean_network([load_network(part, run.base) for part in parts]), made)
        for part in parts:
            part.unlink()
    return load_network(path, run.base)


def _train_part(run: TrainingRun, name: str, split: Split, number: int, log: Log) -> Path:
    """The file of one network of a mean; the network is trained if the file does not exist."""
    path = run.out / f"{name}.{number}.safetensors"
    if not path.exists():
        log(f"{name}: training network {number + 1} of {run.networks}.")
        schedule = replace(run.schedule, seed=run.schedule.seed + number)
        own = replace(run, seed=run.seed + number, schedule=schedule)
        with write_complete(path) as made:
            save_network(_train_one(own, split, log), made)
    return path


def _train_one(run: TrainingRun, split: Split, log: Log) -> Network:
    """A network trained on conversations and in an order that the seeds decide."""
    with _examples_lock:
        started = time.monotonic()
        examples = training_examples(run, split)
    log(f"Made {len(examples)} training examples in {time.monotonic() - started:.0f} s.")
    network = load_base(run.base)
    train(network, examples, run.schedule, log)
    log(f"Trained the network in {time.monotonic() - started:.0f} s.")
    return network


def train_ahead(run: TrainingRun, log: Log) -> None:
    """Train every network that has no file yet, several in parallel.

    Training one network uses a large GPU little, and making its examples not at all. So all workers
    make the examples of one network at a time, while other networks train.
    """
    parts = _missing_networks(run)
    if not parts:
        return
    log(f"Training {len(parts)} networks, {run.parallel_networks} in parallel.")
    processes = get_context("spawn")  # a fork could not use the GPU
    with ProcessPoolExecutor(
        run.parallel_networks,
        mp_context=processes,
        initializer=_take_examples_locks,
        initargs=(processes.Lock(),),
        max_tasks_per_child=1,  # so that it frees the GPU's memory
    ) as pool:
        run_in_pool(pool, parts, log)


def _missing_networks(
    run: TrainingRun,
) -> list[tuple[Callable[..., Path], TrainingRun, str, Split, int]]:
    """The calls that train the missing networks.

    The first network of every mean comes before the second of any. If time runs out, a run with
    fewer networks for each mean can continue.
    """
    splits = {
        f"fold-{fold}": run.split("train", fold)
        for fold in run.folds
        if not (run.out / f"fold-{fold}.npz").exists()
    }
    splits["network"] = run.split("all")
    return [
        (_train_part, run, name, split, number)
        for number in range(run.networks)
        for name, split in splits.items()
        if not (run.out / f"{name}.safetensors").exists()
    ]


_examples_lock: AbstractContextManager[object] = nullcontext()
"""The lock of the process that makes training examples."""


def _take_examples_locks(lock: AbstractContextManager[object]) -> None:
    """Make training examples only while no other process does."""
    global _examples_lock
    _examples_lock = lock


def run_in_pool(pool: ProcessPoolExecutor, work: Sequence[tuple[object, ...]], log: Log) -> None:
    """Call functions in the processes of a pool and log their messages in order.

    Args:
        pool: The processes.
        work: Each function with its arguments except the log; all have the same number.
        log: Receives the messages.
    """
    for lines in pool.map(_run_with_log, *zip(*work, strict=True)):
        for line in lines:
            log(line)


def _run_with_log(work: Callable[..., object], *arguments: object) -> list[str]:
    """Call a function and return its messages."""
    lines: list[str] = []
    work(*arguments, lines.append)
    return lines
