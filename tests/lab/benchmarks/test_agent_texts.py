import json
import sys
from pathlib import Path

import agent_texts
import pytest


def test_figures_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = agent_texts.DATA.read_text("utf-8").splitlines()
    few = tmp_path / "few.jsonl"
    few.write_text("\n".join(row for row in rows if '"grant"' in row or '"garden"' in row))
    words = ["agent_texts.py", "--data", str(few), "--results", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", words)
    agent_texts.main()
    written = json.loads((tmp_path / "agent_texts.json").read_text(encoding="utf-8"))
    assert written["conversations"] == 2 and written["inputs"] == ["few.jsonl"]
    assert written["held"]["a text"]["good"] == {"number": 5, "held": 0, "share": 0.0}
    assert written["held"]["a text"]["bad"] == {"number": 2, "held": 2, "share": 1.0}
    assert "written to agent_texts.json" in capsys.readouterr().out


def test_every_conversation_has_all_fields_and_an_id_of_its_own() -> None:
    rows = [json.loads(line) for line in agent_texts.DATA.read_text("utf-8").splitlines()]
    assert all(
        row.keys() == {"id", "user", "tool", "args", "output", "good", "bad"} for row in rows
    )
    assert all(row["good"] for row in rows) and len({row["id"] for row in rows}) == len(rows)
