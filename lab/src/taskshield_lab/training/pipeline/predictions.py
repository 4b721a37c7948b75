"""Trains the networks of a run and stores their predictions. This part needs a GPU."""

from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from typing import NamedTuple

from taskshield_lab.training.conversations.labelled import LabelledConversation
from taskshield_lab.training.distractors.public_conversations import compose_conversations
from taskshield_lab.training.distractors.public_rows import read_public_rows
from taskshield_lab.training.examples.output_examples import OutputExample
from taskshield_lab.training.fitting.cross_validation import predict_conversations
from taskshield_lab.training.fitting.fold_predictions import FoldPredictions, Limits, join_tags
from taskshield_lab.training.fitting.tag_limits import fit_limits
from taskshield_lab.training.network.network import Network
from taskshield_lab.training.pipeline import datasets
from taskshield_lab.training.pipeline.network_training import (
    final_network,
    run_in_pool,
    train_ahead,
    trained_network,
)
from taskshield_lab.training.pipeline.training_run import (
    Log,
    TrainingRun,
    check_test_set,
    write_complete,
)
from taskshield_lab.training.sources.splits import Split


class TrainingResult(NamedTuple):
    """Predictions of the networks of a run, and the network to release."""

    folds: list[FoldPredictions]
    test_set: FoldPredictions | None
    public: FoldPredictions | None
    network: Network


def train_and_predict(run: TrainingRun, log: Log) -> TrainingResult:
    """Train all networks and store their predictions; finished steps are skipped."""
    check_test_set(run)
    run.out.mkdir(parents=True, exist_ok=True)
    if run.parallel_networks > 1:
        train_ahead(run, log)
        predict_ahead(run, log)
    folds = predict_folds(run, log)
    limits = fit_limits(join_tags(folds))
    return TrainingResult(
        folds,
        predict_test_set(run, log),
        predict_public(run, limits, log),
        final_network(run, log),
    )


def predict_ahead(run: TrainingRun, log: Log) -> None:
    """Store the predictions that do not depend on others, each in a process of its own.

    Most of the work is making conversations and features; each process has its own workers.
    """
    own = replace(run, workers=max(1, run.workers // (len(run.folds) + 1)))
    steps = {
        **({"kept": (predict_test_set, own)} if own.test_set else {}),
        **{f"fold-{n}": (predict_folds, replace(own, folds=(n,))) for n in own.folds},
    }
    missing = [one for name, one in steps.items() if not (own.out / f"{name}.npz").exists()]
    if not missing:
        return
    # a fork could not use the GPU
    with ProcessPoolExecutor(len(missing), mp_context=get_context("spawn")) as pool:
        run_in_pool(pool, missing, log)


def predict_folds(run: TrainingRun, log: Log) -> list[FoldPredictions]:
    """The predictions of the folds' networks on the data that they were not trained on."""
    found = []
    for number in run.folds:
        name = f"fold-{number}"
        if not (run.out / f"{name}.npz").exists():
            network = trained_network(run, name, run.split("train", number), log)
            _predict_side(run, network, name, run.split("validation", number), log)
        found.append(FoldPredictions.load(run.out / f"{name}.npz"))
    return found


def predict_test_set(run: TrainingRun, log: Log) -> FoldPredictions | None:
    """The predictions of the final network on the test set, if there is one."""
    if not run.test_set:
        return None
    if not (run.out / "kept.npz").exists():
        _predict_side(run, final_network(run, log), "kept", run.split("kept"), log)
    return FoldPredictions.load(run.out / "kept.npz")


def predict_public(run: TrainingRun, limits: Limits, log: Log) -> FoldPredictions | None:
    """The predictions of the final network on public conversations, if there are any.

    Args:
        run: The training run.
        limits: The limits on segment logits, fitted on the folds.
        log: Receives the messages.
    """
    if run.alignment is None:
        return None
    if not (run.out / "foreign.npz").exists():
        conversations = list(
            compose_conversations(read_public_rows(run.alignment, "valid"), run.seed)
        )
        if not conversations:
            log("foreign: skipped, because the public data has no rows for validation.")
            return None
        _predict(run, final_network(run, log), "foreign", conversations, [], log, limits)
    return FoldPredictions.load(run.out / "foreign.npz")


def _predict_side(run: TrainingRun, network: Network, name: str, side: Split, log: Log) -> None:
    conversations, definitions = (
        list(datasets.labelled_conversations(run, side)),
        datasets.definition_examples(run, side),
    )
    _predict(run, network, name, conversations, definitions, log)


def _predict(
    run: TrainingRun,
    network: Network,
    name: str,
    conversations: list[LabelledConversation],
    definitions: list[OutputExample],
    log: Log,
    limits: Limits | None = None,
) -> None:
    log(f"{name}: predicting {len(conversations)} conversations.")
    with datasets.parallel_map(run) as parallel, write_complete(run.out / f"{name}.npz") as made:
        predict_conversations(
            network, conversations, definitions, run.tokenizer(), parallel, limits
        ).save(made)
