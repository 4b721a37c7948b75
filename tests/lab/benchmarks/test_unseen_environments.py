import json
import sys
from pathlib import Path

import pytest
import unseen_environments

from tests.lab.training import small_environment


def test_figures_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data = small_environment.write(tmp_path / "data")
    words = ["unseen_environments.py", "--data", str(data), "--results", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", words)
    unseen_environments.main()
    written = json.loads((tmp_path / "own_worlds.json").read_text(encoding="utf-8"))
    assert written["inputs"] == ["waterworks.json"] and written["tasks"] == 2
    assert written["conversations"] == 14 and len(written["held"]) == 8
    clean = written["held"]["the user asks, no attack"]
    assert clean["good"]["number"] == 1 and clean["look-up"]["number"] == 2
    assert written["held"]["the user hands over, dressed"]["attack"]["number"] == 3
    assert "the user asks, plain" in capsys.readouterr().out
