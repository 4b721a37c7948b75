"""The last step of a course: the folder that is shipped, its golden scores and its card."""

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from taskshield_lab.training.fitting.model_folder import assembled, ship
from taskshield_lab.training.network.network import config_of
from taskshield_lab.training.network.onnx_export import to_int8, to_onnx
from taskshield_lab.training.pipeline import golden_scores as golden
from taskshield_lab.training.pipeline import model_card as card
from taskshield_lab.training.pipeline import prefilter_weights
from taskshield_lab.training.pipeline.predictions import taught
from taskshield_lab.training.pipeline.training_run import Log, TrainingRun

NAME = "taskshield-embedded"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shipment:
    """Where everything goes."""

    weights: Path
    """A folder."""
    golden: Path
    card: Path
    figures: Path

    @classmethod
    def below(cls, folder: Path) -> "Shipment":
        """All in one folder."""
        return cls(
            weights=folder / "weights",
            golden=folder / "golden.json",
            card=folder / "model-card.md",
            figures=folder / "figures.json",
        )


def run(course: TrainingRun, to: Shipment, *, version: str, log: Log) -> None:
    """The whole course, from data to what is shipped."""
    said = taught(course, log)
    made = assembled(said.folds, said.kept, said.foreign)
    glance = prefilter_weights.made(course, log)
    figures = {**made.figures, "glance": prefilter_weights.examined(course)}
    log("writing the model")
    with TemporaryDirectory() as scratch:
        full, small = Path(scratch, "full.onnx"), Path(scratch, "small.onnx")
        to_onnx(said.network, full)
        to_int8(full, small)
        scores = golden.compared(full, small, course.tokenizer())
        size = small.stat().st_size
        tokenizer = course.base / "tokenizer.json"
        ship(small, tokenizer, made.decision, glance, to.weights, name=NAME, version=version)
    golden.write(to.golden, scores)
    to.card.write_text(
        card.written(course, figures, made.decision, scores, size, config_of(course.base)),
        encoding="utf-8",
    )
    to.figures.write_text(card.figures_json(course, figures), encoding="utf-8")
    log(f"the model is in {to.weights}, its card is {to.card}")
