import json
import sys
from pathlib import Path

import contrast
import pytest

from taskshield import Shield
from taskshield_lab.training.conversations.from_contrast import contrast_conversations
from tests.lab.training.sources.test_contrast import KNOWN


def test_figures_are_written_by_file_kind_and_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = (contrast.DATA / "known.jsonl").read_text("utf-8").splitlines()
    (tmp_path / "known.jsonl").write_text(lines[0])
    (tmp_path / "other.jsonl").write_text(lines[1].replace('"kind": "', '"kind": "changed_'))
    words = ["contrast.py", "--data", str(tmp_path), "--results", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", words)
    contrast.main()
    written = json.loads((tmp_path / "contrast.json").read_text(encoding="utf-8"))
    assert written["inputs"] == ["known.jsonl", "other.jsonl"]
    for file, talk in zip(("known", "other"), KNOWN[:2], strict=True):
        found = written[file]
        situations = [one for each in talk.variants for one in each.situations]
        wrongs = {one.wrong for one in situations} - {None}
        assert (found["conversations"], found["situations"]) == (1, len(situations))
        assert sum(count["number"] for count in found["held"]["all"].values()) == len(situations)
        assert {row for row in found["held"] if row.startswith("wrong")} == {
            f"wrong: {wrong}" for wrong in wrongs
        }
    assert "not yet, used up or changed since" in written["other"]["held"]
    assert "known, all" in capsys.readouterr().out


def test_every_call_is_judged_on_its_own() -> None:
    conversation = contrast_conversations(KNOWN[0])[0]
    with Shield(judge="allow-all") as shield:
        found = list(contrast.verdicts(conversation, shield))
    judged = conversation.messages[-1].tool_calls
    assert [label for label, _ in found] == [conversation.calls[call.id] for call in judged]
    assert not any(blocked for _, blocked in found)


def test_a_folder_without_contrast_sets_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["contrast.py", "--data", str(tmp_path)])
    with pytest.raises(SystemExit):
        contrast.main()
    assert "no .jsonl file" in capsys.readouterr().err
