"""On a suite of the same layout, with one conversation."""

import json
import sys
from pathlib import Path

import bfcl
import pytest

SIMULATION = """
class MessageAPI:
    def _load_scenario(self, written, long_context=False):
        self.inbox = written["inbox"]

    def read_message(self, number):
        return {"text": self.inbox[number]}

    def send_message(self, to, text):
        raise ValueError("no such person")
"""
TOOLS = [
    {
        "name": "read_message",
        "description": "Read a message.",
        "parameters": {"type": "dict", "properties": {"number": {"type": "integer"}}},
    },
    {
        "name": "send_message",
        "description": "Send a message to somebody.",
        "parameters": {
            "type": "dict",
            "properties": {"to": {"type": "string"}, "text": {"type": "string"}},
        },
    },
]
ASKED = {
    "id": "multi_turn_base_0",
    "question": [
        [{"role": "user", "content": "Read message 0."}],
        [{"role": "user", "content": "Send Ann the text 'see you'."}],
    ],
    "initial_config": {"MessageAPI": {"inbox": ["hello"]}},
    "involved_classes": ["MessageAPI"],
}
KEY = {
    "id": "multi_turn_base_0",
    "ground_truth": [["read_message(0)"], ["send_message(to='Ann', text='see you')"]],
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    data = tmp_path / "bfcl_eval" / "data"
    code = tmp_path / "bfcl_eval" / "eval_checker" / "multi_turn_eval" / "func_source_code"
    code.mkdir(parents=True)
    (code / "message_api.py").write_text(SIMULATION)
    for name in ("multi_turn_func_doc", "possible_answer"):
        (data / name).mkdir(parents=True)
    tools = "\n".join(map(json.dumps, TOOLS))
    (data / "multi_turn_func_doc" / "message_api.json").write_text(tools)
    for part in bfcl.PARTS:
        (data / f"BFCL_v4_{part}.json").write_text(json.dumps(ASKED))
        (data / "possible_answer" / f"BFCL_v4_{part}.json").write_text(json.dumps(KEY))
    monkeypatch.setattr(sys, "path", list(sys.path))
    return tmp_path


def test_figures_are_written(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["bfcl.py", str(folder), "--results", str(folder / "results")]
    monkeypatch.setattr(sys, "argv", words)
    bfcl.main()
    written = json.loads((folder / "results" / "bfcl.json").read_text(encoding="utf-8"))
    one = {"number": 1, "held": 0, "share": 0.0}
    assert written["held"] == {
        part: {"read": one, "external": one, "conversation": one} for part in bfcl.PARTS
    }
    assert "written to bfcl.json" in capsys.readouterr().out


def test_tools_are_run_and_their_failures_returned(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(folder)
    desk = bfcl.SimulatedTools(ASKED, folder / "bfcl_eval" / "data", long=False)
    assert desk.call("send_message('Ann', text='a')") == (
        "send_message",
        {"to": "Ann", "text": "a"},
    )
    assert json.loads(desk.run("read_message", {"number": 0})) == {"text": "hello"}
    assert json.loads(desk.run("send_message", {"to": "A", "text": "b"})) == {
        "error": "no such person"
    }


def test_a_folder_without_the_suite_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["bfcl.py", str(tmp_path)])
    with pytest.raises(SystemExit):
        bfcl.main()
    assert "has no folder bfcl_eval/data" in capsys.readouterr().err
