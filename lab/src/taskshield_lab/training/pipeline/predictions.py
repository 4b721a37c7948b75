"""What the networks of a course say; all of them taught and asked, which needs a GPU."""

from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from typing import NamedTuple

from taskshield_lab.training.conversations.labelled import LabelledConversation
from taskshield_lab.training.distractors.composed import composed
from taskshield_lab.training.distractors.public_rows import read_pack
from taskshield_lab.training.examples.examples import OutputExample
from taskshield_lab.training.fitting import calibration
from taskshield_lab.training.fitting.cross_validation import FoldPredictions, Limits, examined
from taskshield_lab.training.network.network import Network
from taskshield_lab.training.pipeline import datasets
from taskshield_lab.training.pipeline.network_training import (
    all_apart,
    final_network,
    network_named,
    teach_ahead,
)
from taskshield_lab.training.pipeline.training_run import Log, TrainingRun, check_kept, complete
from taskshield_lab.training.sources.splits import Split


class Answers(NamedTuple):
    """What the networks of a course say."""

    folds: list[FoldPredictions]
    kept: FoldPredictions | None
    foreign: FoldPredictions | None
    network: Network
    """The one to ship."""


def taught(course: TrainingRun, log: Log) -> Answers:
    """All networks taught and asked, as far as that is not done; all of it stays in the folder."""
    check_kept(course)
    course.out.mkdir(parents=True, exist_ok=True)
    if course.at_once > 1:
        teach_ahead(course, log)
        ask_ahead(course, log)
    folds = examine_folds(course, log)
    limits = calibration.tag_limits(calibration.stacked_tags(folds))
    return Answers(
        folds,
        examine_kept(course, log),
        examine_foreign(course, limits, log),
        final_network(course, log),
    )


def ask_ahead(course: TrainingRun, log: Log) -> None:
    """Ask all networks that need not wait for what others say, each in a process of its own.

    Most of the work is to make conversations and features, and every network shares out its own.
    """
    own = replace(course, workers=max(1, course.workers // (len(course.folds) + 1)))
    asking = {
        **({"kept": (examine_kept, own)} if own.kept else {}),
        **{f"fold-{n}": (examine_folds, replace(own, folds=(n,))) for n in own.folds},
    }
    lacking = [one for name, one in asking.items() if not (own.out / f"{name}.npz").exists()]
    if not lacking:
        return
    # a fork could not use the GPU
    with ProcessPoolExecutor(len(lacking), mp_context=get_context("spawn")) as pool:
        all_apart(pool, lacking, log)


def examine_folds(course: TrainingRun, log: Log) -> list[FoldPredictions]:
    """What fold networks say about what they did not see; folds that are done are not repeated."""
    found = []
    for number in course.folds:
        name = f"fold-{number}"
        if not (course.out / f"{name}.npz").exists():
            network = network_named(course, name, course.split("train", number), log)
            _examine(course, network, name, course.split("validation", number), log)
        found.append(FoldPredictions.load(course.out / f"{name}.npz"))
    return found


def examine_kept(course: TrainingRun, log: Log) -> FoldPredictions | None:
    """What the final network says about what is kept, where something is; it is not repeated."""
    if not course.kept:
        return None
    if not (course.out / "kept.npz").exists():
        _examine(course, final_network(course, log), "kept", course.split("kept"), log)
    return FoldPredictions.load(course.out / "kept.npz")


def examine_foreign(course: TrainingRun, limits: Limits, log: Log) -> FoldPredictions | None:
    """What the final network says about public conversations, if any; it is not repeated.

    Args:
        course: The course.
        limits: From which logit on a segment is taken for planted, as the folds found.
        log: Where to tell.
    """
    if course.alignment is None:
        return None
    if not (course.out / "foreign.npz").exists():
        talks = list(composed(read_pack(course.alignment, "valid"), course.seed))
        if not talks:
            log("foreign: no rows of the second source are kept for validation")
            return None
        _ask(course, final_network(course, log), "foreign", talks, [], log, limits)
    return FoldPredictions.load(course.out / "foreign.npz")


def _examine(course: TrainingRun, network: Network, name: str, side: Split, log: Log) -> None:
    talks, definitions = list(datasets.talks(course, side)), datasets.definitions(course, side)
    _ask(course, network, name, talks, definitions, log)


def _ask(
    course: TrainingRun,
    network: Network,
    name: str,
    talks: list[LabelledConversation],
    definitions: list[OutputExample],
    log: Log,
    limits: Limits | None = None,
) -> None:
    log(f"{name}: asking about {len(talks)} conversations")
    with datasets.spreading(course) as spread, complete(course.out / f"{name}.npz") as made:
        examined(network, talks, definitions, course.tokenizer(), spread, limits).save(made)
