"""The last step of a run: writes the model folder, its golden scores, figures and card."""

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from taskshield_lab.training.fitting.decision import fit_decision
from taskshield_lab.training.fitting.model_folder import write_model_folder
from taskshield_lab.training.network.network import read_config
from taskshield_lab.training.network.onnx_export import to_int8, to_onnx
from taskshield_lab.training.pipeline import golden_scores as golden
from taskshield_lab.training.pipeline import model_card as card
from taskshield_lab.training.pipeline import prefilter_weights
from taskshield_lab.training.pipeline.predictions import train_and_predict
from taskshield_lab.training.pipeline.training_run import Log, TrainingRun

NAME = "taskshield-embedded"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseFiles:
    """The paths of the files that a release has."""

    weights: Path
    """The model folder."""
    golden: Path
    card: Path
    figures: Path

    @classmethod
    def below(cls, folder: Path) -> "ReleaseFiles":
        """The paths below one folder."""
        return cls(
            weights=folder / "weights",
            golden=folder / "golden.json",
            card=folder / "model-card.md",
            figures=folder / "figures.json",
        )


def release_model(run: TrainingRun, to: ReleaseFiles, *, version: str, log: Log) -> None:
    """Run all steps from the data to the released files."""
    result = train_and_predict(run, log)
    made = fit_decision(result.folds, result.test_set, result.public)
    glance = prefilter_weights.prefilter_file(run, log)
    figures = {**made.figures, "glance": prefilter_weights.evaluate_prefilter(run)}
    log("Writing the model.")
    with TemporaryDirectory() as scratch:
        full, small = Path(scratch, "full.onnx"), Path(scratch, "small.onnx")
        to_onnx(result.network, full)
        to_int8(full, small)
        scores = golden.compare_scores(full, small, run.tokenizer())
        size = small.stat().st_size
        tokenizer = run.base / "tokenizer.json"
        write_model_folder(
            small, tokenizer, made.decision, glance, to.weights, name=NAME, version=version
        )
    golden.write(to.golden, scores)
    to.card.write_text(
        card.render_card(run, figures, made.decision, scores, size, read_config(run.base)),
        encoding="utf-8",
    )
    to.figures.write_text(card.figures_json(run, figures), encoding="utf-8")
    log(f"The model is in {to.weights}, its card is {to.card}.")
