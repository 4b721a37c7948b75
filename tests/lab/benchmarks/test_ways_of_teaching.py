import json
import sys
from pathlib import Path

import pytest
import ways_of_teaching
from ways_of_teaching import Way

from taskshield_lab.training.network.training_loop import Schedule
from tests.lab.training import alignment_pack, few_scenarios, small_world, tiny_base


def test_every_way_is_tried_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ways = {
        "short, mean of two": Way(Schedule(epochs=0.1), networks=2),
        "words as they were": Way(Schedule(epochs=0.1, words=False)),
    }
    monkeypatch.setattr(ways_of_teaching, "WAYS", ways)
    pack = alignment_pack.write_valid(tmp_path / "pack")
    words = ["ways_of_teaching.py", str(pack), "--per-scenario", "1", "--results", str(tmp_path)]
    for name, folder in (
        ("--base", tiny_base.write(tmp_path / "base")),
        ("--data", few_scenarios.write(tmp_path / "data")),
        ("--worlds", small_world.write(tmp_path / "worlds")),
        ("--out", tmp_path / "networks"),
    ):
        words += [name, str(folder)]
    monkeypatch.setattr(sys, "argv", words)
    ways_of_teaching.main()
    told = json.loads((tmp_path / "ways_of_teaching.json").read_text(encoding="utf-8"))
    assert [one["way"] for one in told["ways"]] == list(ways)
    assert [one["schedule"]["words"] for one in told["ways"]] == [True, False]
    assert [one["networks"] for one in told["ways"]] == [2, 1]
    for one in told["ways"]:
        for where in ("public conversations", "worlds"):
            for caught in (one[where]["the user asks"], one[where]["the user hands over"]):
                assert list(caught) == ["0.01", "0.02", "0.05"]
                assert all(0 <= share <= 1 for share in caught.values())
    assert "words as they were" in capsys.readouterr().out


def test_a_pack_without_rows_for_validation_is_refused_before_anything_is_taught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pack = alignment_pack.write(tmp_path / "pack")
    worlds = small_world.write(tmp_path / "worlds")
    words = ["ways_of_teaching.py", str(pack), "--base", "none", "--out", "none"]
    monkeypatch.setattr(sys, "argv", [*words, "--worlds", str(worlds)])
    with pytest.raises(SystemExit):
        ways_of_teaching.main()
    assert "pack holds no rows for validation" in capsys.readouterr().err
