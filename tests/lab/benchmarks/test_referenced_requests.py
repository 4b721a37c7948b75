import json
import sys
from pathlib import Path

import pytest
import referenced_requests


def test_figures_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(referenced_requests, "FILES", ("corridors-01", "waypoints-01"))
    words = ["referenced_requests.py", "--per-scenario", "2", "--results", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", words)
    referenced_requests.main()
    written = json.loads((tmp_path / "pointed_work.json").read_text(encoding="utf-8"))
    assert written["scenarios"] == 2 and written["conversations"] == 4
    assert written["held"].keys() == {"the user asks"}  # no user delegates
    assert written["held"]["the user asks"]["good"]["number"] > 0
    assert "written to pointed_work.json" in capsys.readouterr().out
