"""All networks of a course, taught and asked: what a GPU is needed for."""

from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from typing import NamedTuple

from taskshield.training import weighing
from taskshield.training.course import (
    Course,
    Log,
    apart,
    check_kept,
    examine_folds,
    examine_foreign,
    examine_kept,
    final_network,
    teach_ahead,
)
from taskshield.training.folds import Findings
from taskshield.training.network import Network


class Answers(NamedTuple):
    """What the networks of a course say."""

    folds: list[Findings]
    kept: Findings | None
    foreign: Findings | None
    network: Network
    """The one to ship."""


def taught(course: Course, log: Log) -> Answers:
    """All networks taught and asked, as far as that is not done; all of it stays in the folder."""
    check_kept(course)
    course.out.mkdir(parents=True, exist_ok=True)
    if course.at_once > 1:
        teach_ahead(course, log)
        ask_ahead(course, log)
    folds = examine_folds(course, log)
    limits = weighing.tag_limits(weighing.stacked_tags(folds))
    return Answers(
        folds,
        examine_kept(course, log),
        examine_foreign(course, limits, log),
        final_network(course, log),
    )


def ask_ahead(course: Course, log: Log) -> None:
    """Ask all networks that need not wait for what others say, each in a process of its own.

    Most of the work is to make conversations and features, and every network shares out its own.
    """
    own = replace(course, workers=max(1, course.workers // (len(course.folds) + 1)))
    asking = {
        "kept": (examine_kept, own),
        **{f"fold-{n}": (examine_folds, replace(own, folds=(n,))) for n in own.folds},
    }
    lacking = [one for name, one in asking.items() if not (own.out / f"{name}.npz").exists()]
    if not lacking:
        return
    # a fork could not use the GPU
    with ProcessPoolExecutor(len(lacking), mp_context=get_context("spawn")) as pool:
        for told in pool.map(apart, *zip(*lacking, strict=True)):
            for line in told:
                log(line)
