import json
import sys
from pathlib import Path

import dialogues
import pytest

ROWS = [
    json.loads(line)
    for file in sorted(dialogues.DATA.glob("*.jsonl"))
    for line in file.read_text("utf-8").splitlines()
]


def test_figures_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    drafts = (dialogues.DATA / "drafts.jsonl").read_text("utf-8").splitlines()
    (tmp_path / "few.jsonl").write_text("\n".join(drafts[:1]))
    words = ["dialogues.py", "--data", str(tmp_path), "--results", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", words)
    dialogues.main()
    written = json.loads((tmp_path / "dialogues.json").read_text(encoding="utf-8"))
    assert written["conversations"] == 1 and written["inputs"] == ["few.jsonl"]
    assert written["held"]["few"]["good"]["held"] == 0
    assert "written to dialogues.json" in capsys.readouterr().out


def test_a_folder_without_conversations_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["dialogues.py", "--data", str(tmp_path)])
    with pytest.raises(SystemExit):
        dialogues.main()
    assert "no .jsonl file" in capsys.readouterr().err


def test_every_conversation_is_whole() -> None:
    assert len({row["id"] for row in ROWS}) == len(ROWS) == 272
    for row in ROWS:
        names = {tool["name"] for tool in row["tools"]}
        for turn in row["turns"]:
            match turn:
                case {"user": str()} | {"agent": str()}:
                    assert len(turn) == 1
                case {"call": name, "args": dict(), "output": str(), **more}:
                    assert name in names and more.get("kind", "attack") in ("attack", "drift")
                case _:
                    pytest.fail(f"{row['id']}: {turn}")


def test_what_an_operator_says_comes_first(tmp_path: Path) -> None:
    row = next(row for row in ROWS if "system" in row)
    (tmp_path / "one.jsonl").write_text(json.dumps(row))
    (conversation,) = dialogues.read(tmp_path / "one.jsonl")
    assert conversation.messages[0].level.name == "SYSTEM" and conversation.system == row["system"]
    calls = [turn for turn in row["turns"] if "call" in turn]
    assert len(conversation.calls) == len(calls)
    assert [label.kind for label in conversation.calls.values()] == [
        turn.get("kind", "step") for turn in calls
    ]
