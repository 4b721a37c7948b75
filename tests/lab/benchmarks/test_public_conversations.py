import json
import sys
from pathlib import Path

import public_conversations
import pytest

from tests.lab.training import alignment_pack


def test_figures_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pack = alignment_pack.write_valid(tmp_path / "pack")
    words = ["public_conversations.py", str(pack), "--every", "2", "--results", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", words)
    public_conversations.main()
    written = json.loads((tmp_path / "public_conversations.json").read_text(encoding="utf-8"))
    assert written["inputs"] == ["pack"] and written["conversations"] > 2
    (asks, hands) = (written["held"][who] for who in ("the user asks", "the user hands over"))
    assert asks["good"]["number"] > 0 and hands["good"]["number"] == 2
    assert "the user hands over" in capsys.readouterr().out
