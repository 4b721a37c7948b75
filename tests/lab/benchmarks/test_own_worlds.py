import json
import sys
from pathlib import Path

import own_worlds
import pytest

from tests.lab.training import small_world


def test_figures_are_written_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data = small_world.write(tmp_path / "data")
    words = ["own_worlds.py", "--data", str(data), "--results", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", words)
    own_worlds.main()
    told = json.loads((tmp_path / "own_worlds.json").read_text(encoding="utf-8"))
    assert told["inputs"] == ["waterworks.json"] and told["tasks"] == 2
    assert told["conversations"] == 14 and len(told["held"]) == 8
    clean = told["held"]["the user asks, no attack"]
    assert clean["good"]["number"] == 1 and clean["look-up"]["number"] == 2
    assert told["held"]["the user hands over, dressed"]["attack"]["number"] == 3
    assert "the user asks, plain" in capsys.readouterr().out
