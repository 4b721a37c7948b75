import json
import lzma
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from taskshield_lab.training.authorisation import left_out_figures, train_networks
from taskshield_lab.training.authorisation.folds import FOLDS, NEVER_TRAINED, is_left_out
from taskshield_lab.training.authorisation.situations import Row, Situation
from taskshield_lab.training.authorisation.token_rows import (
    FORMS,
    evaluation_rows,
    read_situations,
    training_rows,
)
from tests.lab.training import tiny_base


def situation(number: int, source: str) -> Situation:
    """The user wants a valve opened; opening the pump is wrong."""
    return Situation(
        id=f"{source}-{number}",
        source=source,
        said=f"now: open valve {number}",
        menu=("open valve", "open pump"),
        acts=(True, True),
        rows=(
            Row(tool=0, asked=True, weight=1.0, kind="step", plain="valve", marked="valve (said)"),
            Row(tool=1, asked=False, weight=1.0, kind="drift", plain="pump", marked="pump (new)"),
            Row(tool=0, asked=False, weight=1.0, kind="amount", plain="val", marked="val (new)"),
            Row(tool=1, asked=False, weight=0.5, kind="unused tool"),
        ),
    )


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("authorisation")
    tiny_base.write(folder / "bases" / "tiny")
    path = folder / "situations.jsonl.xz"
    with lzma.open(path, "wt", encoding="utf-8") as lines:
        for source in ("pairs:tau2", "pairs:toolemu", "pairs:sgd"):
            for number in range(100):
                lines.write(json.dumps(asdict(situation(number, source))) + "\n")
    return folder, path


def test_a_family_is_left_out_whole() -> None:
    assert is_left_out("pairs:tau2", "x", 0)
    assert not is_left_out("pairs:tau2", "x", 1)
    assert not is_left_out("pairs:tau2", "x", None)
    for source in NEVER_TRAINED:
        assert is_left_out(source, "x", None)


def test_all_situations_of_our_scenario_are_in_one_fold() -> None:
    for number in range(50):
        folds = {
            tuple(
                is_left_out("own:scenarios", f"s{number}:{part}/2", fold) for fold in range(FOLDS)
            )
            for part in range(5)
        }
        assert len(folds) == 1


def test_a_wrong_value_says_nothing_about_the_tool(files: tuple[Path, Path]) -> None:
    folder, path = files
    rows = training_rows(read_situations([path])[:1], folder / "bases" / "tiny", 1)
    bare = rows.meta[rows.meta["form"] == FORMS.index("bare")]
    assert sorted((int(one["tool"]), int(one["asked"])) for one in bare) == [(0, 1), (1, 0)]
    assert (rows.meta["form"] == FORMS.index("plain")).sum() == 3


def test_every_tool_of_the_menu_is_evaluated(files: tuple[Path, Path]) -> None:
    folder, path = files
    rows = evaluation_rows(read_situations([path])[:3], folder / "bases" / "tiny", 1)
    assert (rows.meta["form"] == FORMS.index("bare")).sum() == 2 * 3
    assert len(rows.meta) == len(rows.examples) == 3 * (2 + 2 * 3)


def test_networks_are_evaluated_on_what_they_did_not_see(
    files: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, path = files
    command = f"x --situations {path} --evaluated {path} --bases {folder / 'bases'} --jobs"
    options = f"--epochs 0.1 --parallel 1 --workers 1 --out {tmp_path}"
    monkeypatch.setattr("sys.argv", [*command.split(), "tiny/0/1", *options.split()])
    train_networks.main()
    situations = read_situations([path, path])
    calls = left_out_figures.readings(situations, [tmp_path / "tiny-0-1.npz"])
    seen = {one["source"] for one in calls if one["situation"] < 300}
    assert seen == {"pairs:tau2", "pairs:sgd"}
    assert len({one["situation"] for one in calls if one["situation"] >= 300}) == 300
    figures = left_out_figures.figures(calls, acts=True)
    assert figures["pairs:tau2"]["right"] == figures["pairs:tau2"]["situations"]


def test_auc_is_the_share_of_pairs_in_the_right_order() -> None:
    right, wrong = np.array([3.0, 1.0]), np.array([2.0, 0.0])
    assert left_out_figures.auc(right, wrong) == 0.75
