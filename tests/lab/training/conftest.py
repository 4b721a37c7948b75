from pathlib import Path

import pytest

from taskshield_lab.training.conversations.corpus import generate_conversations
from taskshield_lab.training.conversations.labelled import LabelledConversation
from taskshield_lab.training.network.network import Network, load_base
from taskshield_lab.training.pipeline import network_training
from taskshield_lab.training.pipeline.training_run import TrainingRun
from taskshield_lab.training.sources.scenario_files import (
    read_openings,
    read_scenarios,
    read_styles,
)
from taskshield_lab.training.sources.scenarios import Opening, Scenario, Style
from taskshield_lab.training.sources.splits import Split
from tests.lab.training import alignment_pack, few_scenarios, tiny_base

DATA = Path(__file__).parents[3] / "lab" / "data" / "training"


@pytest.fixture(scope="session")
def scenarios() -> tuple[Scenario, ...]:
    return read_scenarios(DATA / "scenarios")


@pytest.fixture(scope="session")
def openings() -> tuple[Opening, ...]:
    return read_openings(DATA / "openings")


@pytest.fixture(scope="session")
def styles() -> tuple[Style, ...]:
    return read_styles(DATA / "styles")


@pytest.fixture(scope="session")
def sample(
    scenarios: tuple[Scenario, ...], styles: tuple[Style, ...]
) -> tuple[LabelledConversation, ...]:
    """Every thirty-second scenario, all kinds of conversations."""
    return tuple(generate_conversations(scenarios[::32], styles, seed=7, per_scenario=8))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> TrainingRun:
    folder = tmp_path_factory.mktemp("course")
    return TrainingRun(
        data=few_scenarios.write(folder / "lab" / "data"),
        base=tiny_base.write(folder / "base"),
        alignment=None,
        out=folder,
        folds=(0,),
        per_scenario=1,
        per_task=3,
        validation_per_scenario=2,
        validation_per_task=2,
    )


@pytest.fixture
def trained_splits(monkeypatch: pytest.MonkeyPatch) -> list[Split]:
    """The splits that networks were trained on; each is the base without any training."""
    splits: list[Split] = []

    def plain(run: TrainingRun, split: Split, log: object) -> Network:
        splits.append(split)
        return load_base(run.base)

    monkeypatch.setattr(network_training, "_train_one", plain)
    return splits


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    """Public data: forty tasks for training, four for validation."""
    rows = [
        alignment_pack.pair(n, goal=[f"Open valve V-{n}55 to 3{n}.5 percent."], split=side, task=n)
        for n, side in enumerate(("train",) * 16 + ("valid",) * 4 + ("train",) * 24)
    ]
    texts = [
        alignment_pack.text(n, label="benign", split=side)
        for n, side in enumerate(("train", "valid"))
    ]
    return alignment_pack.write(tmp_path / "pack", pairs=rows, texts=texts)
