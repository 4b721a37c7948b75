"""The networks of a course, taught; each may be the mean of several."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

from taskshield_lab.training.network.network import Network, from_base, loaded, mean_of, saved
from taskshield_lab.training.network.training_loop import teach
from taskshield_lab.training.pipeline.datasets import lessons_for
from taskshield_lab.training.pipeline.training_run import Log, TrainingRun, complete
from taskshield_lab.training.sources.splits import Split


def final_network(course: TrainingRun, log: Log) -> Network:
    """The network that is taught with everything; one that is done is not repeated."""
    return network_named(course, "network", course.split("all"), log)


def network_named(course: TrainingRun, name: str, split: Split, log: Log) -> Network:
    """A network taught with one side of the data, or the one of this name that is there."""
    path = course.out / f"{name}.safetensors"
    if not path.exists():
        parts = [_part(course, name, split, number, log) for number in range(course.networks)]
        with complete(path) as made:
            saved(mean_of([loaded(part, course.base) for part in parts]), made)
        for part in parts:
            part.unlink()
    return loaded(path, course.base)


def _part(course: TrainingRun, name: str, split: Split, number: int, log: Log) -> Path:
    """The file of one of the networks whose mean is taken; one that is done is not repeated."""
    path = course.out / f"{name}.{number}.safetensors"
    if not path.exists():
        log(f"{name}: teaching network {number + 1} of {course.networks}")
        schedule = replace(course.schedule, seed=course.schedule.seed + number)
        own = replace(course, seed=course.seed + number, schedule=schedule)
        with complete(path) as made:
            saved(_taught(own, split, log), made)
    return path


def _taught(course: TrainingRun, split: Split, log: Log) -> Network:
    """One network, taught with conversations and in an order that the seeds decide."""
    with _turn:
        started = time.monotonic()
        lessons = lessons_for(course, split)
    log(f"{len(lessons)} lessons, made in {time.monotonic() - started:.0f} s")
    network = from_base(course.base)
    teach(network, lessons, course.schedule, log)
    log(f"taught in {time.monotonic() - started:.0f} s")
    return network


def teach_ahead(course: TrainingRun, log: Log) -> None:
    """Teach every network that the course still lacks, several at once.

    Teaching one hardly keeps a large GPU busy, and making its lessons not at all. So lessons are
    made for one network at a time, by all workers, while others are taught.
    """
    parts = _lacking(course)
    if not parts:
        return
    log(f"teaching {len(parts)} networks, {course.at_once} at once")
    processes = get_context("spawn")  # a fork could not use the GPU
    with ProcessPoolExecutor(
        course.at_once,
        mp_context=processes,
        initializer=_take_turns,
        initargs=(processes.Lock(),),
        max_tasks_per_child=1,  # and leaves nothing on it
    ) as pool:
        all_apart(pool, parts, log)


def _lacking(course: TrainingRun) -> list[tuple[Callable[..., Path], TrainingRun, str, Split, int]]:
    """What makes the networks of the means that are not there yet.

    The first of every mean comes before the second of any: where time runs out, a course of fewer
    networks can go on.
    """
    splits = {
        f"fold-{fold}": course.split("train", fold)
        for fold in course.folds
        if not (course.out / f"fold-{fold}.npz").exists()
    }
    splits["network"] = course.split("all")
    return [
        (_part, course, name, split, number)
        for number in range(course.networks)
        for name, split in splits.items()
        if not (course.out / f"{name}.safetensors").exists()
    ]


_turn: AbstractContextManager[object] = nullcontext()
"""Held by the process that makes lessons."""


def _take_turns(lock: AbstractContextManager[object]) -> None:
    """Make lessons only while no other process does."""
    global _turn
    _turn = lock


def all_apart(pool: ProcessPoolExecutor, work: Sequence[tuple[object, ...]], log: Log) -> None:
    """Call functions, each with what it is given, in the processes of a pool; tell in their order.

    Args:
        pool: The processes.
        work: A function and what it is given, but for where to tell; all are given as much.
        log: Where to tell.
    """
    for told in pool.map(_apart, *zip(*work, strict=True)):
        for line in told:
            log(line)


def _apart(work: Callable[..., object], *given: object) -> list[str]:
    """Work in a process of its own; returns what there is to log."""
    told: list[str] = []
    work(*given, told.append)
    return told
