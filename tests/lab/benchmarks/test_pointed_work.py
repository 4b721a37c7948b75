import json
import sys
from pathlib import Path

import pointed_work
import pytest


def test_figures_are_written_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(pointed_work, "FILES", ("corridors-01", "waypoints-01"))
    words = ["pointed_work.py", "--per-scenario", "2", "--results", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", words)
    pointed_work.main()
    told = json.loads((tmp_path / "pointed_work.json").read_text(encoding="utf-8"))
    assert told["scenarios"] == 2 and told["conversations"] == 4
    assert told["held"].keys() == {"the user asks"}  # nobody delegates
    assert told["held"]["the user asks"]["good"]["number"] > 0
    assert "written to pointed_work.json" in capsys.readouterr().out
