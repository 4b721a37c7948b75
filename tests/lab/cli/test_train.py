import json
import os
import re
import sys
from pathlib import Path

import pytest

from taskshield import Shield, ToolSpec
from taskshield.cli.main import main
from taskshield.judges.embedded.judge import EmbeddedJudge
from taskshield.judges.embedded.network.model import Model
from taskshield_lab.cli import train
from taskshield_lab.training.pipeline import release
from taskshield_lab.training.pipeline.training_run import TrainingRun
from tests.lab.training import few_scenarios, tiny_base

Captured = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The command line of a training_run that is over in seconds."""
    folder = tmp_path_factory.mktemp("train")
    base, data = tiny_base.write(folder / "base"), few_scenarios.write(folder / "lab" / "data")
    return (
        f"train --base {base} --data {data} --out {folder / 'out'}"
        " --fold 0 --networks 1 --train-per-scenario 1 --epochs 0.2 --rate 2e-4"
        " --model-version 0.test"
    ).split()


@pytest.fixture(scope="module")
def out(given: list[str]) -> Path:
    """What the training_run leaves behind."""
    assert main(given) == 0
    return Path(given[given.index("--out") + 1])


def test_a_run_writes_a_model_its_card_and_what_it_can_resume_from(out: Path) -> None:
    assert sorted(path.name for path in out.iterdir()) == [
        "figures.json",
        "fold-0.npz",
        "fold-0.safetensors",
        "glance.npy",
        "golden.json",
        "model-card.md",
        "network.safetensors",
        "weights",
    ]
    card = (out / "model-card.md").read_text(encoding="utf-8")
    assert "## Thresholds" in card and '"folds": [0]' in card and '"rate": 0.0002' in card
    assert not re.search(r"\bnan\b|\{\{", card)
    figures = json.loads((out / "figures.json").read_text(encoding="utf-8"), parse_constant=int)
    assert figures["calls"] > 100 and figures["domains"] >= 3


def test_the_model_that_was_made_judges(out: Path) -> None:
    model = Model.load(out / "weights")
    assert model.label.startswith("taskshield-embedded-0.test@")
    with Shield(judge=EmbeddedJudge(model)) as shield:
        session = shield.session(tools=[ToolSpec(name="send_money")])
        session.user("Pay 98.70 to UK12345678901234567890.")
        decision = session.tool_call(
            "send_money", {"to": "UK12345678901234567890", "amount": 98.7}, id="c1"
        )
    assert decision.calls[0].call.id == "c1"
    assert isinstance(decision.allowed, bool)


def test_finished_steps_are_skipped(given: list[str], out: Path, capsys: Captured) -> None:
    kept = ("fold-0.npz", "network.safetensors")
    for name in kept:
        os.utime(out / name, (1_000_000_000, 1_000_000_000))
    before = {path: path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file()}
    assert main(given) == 0
    assert "training network" not in capsys.readouterr().err
    for name in kept:
        assert (out / name).stat().st_mtime == 1_000_000_000
    for path, content in before.items():
        assert path.read_bytes() == content, path.name


def test_an_interrupted_run_resumes(given: list[str], out: Path, capsys: Captured) -> None:
    (out / "network.safetensors").unlink()
    assert main(given) == 0
    log = capsys.readouterr().err
    assert "network: training network" in log and "fold-0: training network" not in log
    assert (out / "network.safetensors").is_file()


def test_a_machine_without_onnx_trains_and_another_writes_the_model(
    given: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    there = [str(tmp_path) if one == given[given.index("--out") + 1] else one for one in given]
    with monkeypatch.context() as patch:
        patch.setattr(train, "find_spec", lambda name: None if name == "onnx" else name)
        assert main([*there, "--train-only"]) == 0
        assert sorted(path.name for path in tmp_path.iterdir()) == [
            "fold-0.npz",
            "fold-0.safetensors",
            "network.safetensors",
        ]
        capsys.readouterr()
        assert main(there) == 2
        assert "onnx" in capsys.readouterr().err
    assert main(there) == 0
    assert "training network" not in capsys.readouterr().err
    assert (tmp_path / "model-card.md").is_file()


def test_options_are_passed_on(given: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[TrainingRun] = []
    monkeypatch.setattr(
        release, "release_model", lambda training_run, *_, **__: seen.append(training_run)
    )
    made = ["--train-per-scenario", "4", "--train-per-task", "5"]
    asked = ["--validation-per-scenario", "7", "--validation-per-task", "8"]
    assert main([*given, "--workers", "3", "--parallel-networks", "2", *made, *asked]) == 0
    (training_run,) = seen
    assert (training_run.workers, training_run.parallel_networks) == (3, 2)
    assert (training_run.per_scenario, training_run.per_task) == (4, 5)
    assert (training_run.validation_per_scenario, training_run.validation_per_task) == (7, 8)


def complaint(capsys: Captured, arguments: list[str]) -> str:
    """What a command that must fail with 2 writes, which must be one line."""
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and "Traceback" not in err
    return err


def arguments(base: Path, tmp_path: Path, *more: object) -> list[str]:
    return [*f"train --base {base} --data {tmp_path} --out {tmp_path / 'o'}".split()] + [
        str(one) for one in more
    ]


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors"])
def test_a_base_without_one_of_its_files_is_named(
    name: str, tmp_path: Path, capsys: Captured
) -> None:
    base = tiny_base.write(tmp_path / "base")
    (base / name).unlink()
    err = complaint(capsys, arguments(base, tmp_path))
    assert f"--base: the folder {base} has no file {name}" in err


def test_a_base_that_is_no_encoder_is_named(
    given: list[str], tmp_path: Path, capsys: Captured
) -> None:
    base = tiny_base.write(tmp_path / "base")
    (base / "model.safetensors").write_bytes(b"nothing")
    changed = [*given, "--base", str(base), "--out", str(tmp_path / "out")]
    assert main(changed) == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert f"error: The folder {base} does not have a BERT or MPNet encoder" in last


@pytest.mark.parametrize("option", ["--base", "--data", "--alignment"])
def test_a_folder_that_is_none_is_named(option: str, tmp_path: Path, capsys: Captured) -> None:
    base = tiny_base.write(tmp_path / "base")
    err = complaint(capsys, arguments(base, tmp_path, option, tmp_path / "none"))
    assert f"{option}: {tmp_path / 'none'} is not a folder" in err


@pytest.mark.parametrize("fold", [-1, 5])
def test_a_fold_that_does_not_exist_is_refused(fold: int, tmp_path: Path, capsys: Captured) -> None:
    base = tiny_base.write(tmp_path / "base")
    err = complaint(capsys, arguments(base, tmp_path, "--fold", 0, "--fold", fold))
    assert "--fold: the folds are 0 to 4" in err


def test_data_without_scenarios_is_named(tmp_path: Path, capsys: Captured) -> None:
    base = tiny_base.write(tmp_path / "base")
    assert main(arguments(base, tmp_path)) == 2
    assert "has no .jsonl file" in capsys.readouterr().err


@pytest.mark.parametrize("package", ["torch", "safetensors", "onnx"])
def test_a_missing_library_is_named_before_the_first_step(
    package: str, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = tiny_base.write(tmp_path / "base")
    monkeypatch.setitem(sys.modules, package, None)
    err = complaint(capsys, arguments(base, tmp_path))
    assert f"The package '{package}' is not installed" in err
    assert "pip install 'taskshield[train]'" in err
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize(
    "option", ["--networks", "--train-per-scenario", "--workers", "--parallel-networks"]
)
def test_less_than_one_is_no_count(option: str, capsys: Captured) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["train", "--base", "x", option, "0"])
    assert caught.value.code == 2
    assert "at least 1" in capsys.readouterr().err


def test_help_fits_a_terminal_and_names_what_is_needed(capsys: Captured) -> None:
    with pytest.raises(SystemExit):
        main(["train", "--help"])
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 80
    assert "model.safetensors" in text and "NOTICE" in text
