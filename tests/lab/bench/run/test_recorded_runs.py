"""Files of recorded runs."""

import json
import lzma
from pathlib import Path

import pytest

from taskshield.core.errors import WireFormatError
from taskshield_lab.bench.run.recorded_runs import read
from tests.adapters.traces.test_agentdojo_runs import run

TEXT = json.dumps(run({"role": "user", "content": "Read the file."}))


def test_runs_are_read_from_lines_packed_lines_and_folders(tmp_path: Path) -> None:
    (tmp_path / "suite" / "task").mkdir(parents=True)
    (tmp_path / "suite" / "task" / "none.json").write_text(TEXT)
    (tmp_path / "lines.jsonl").write_text(f"{TEXT}\n\n{TEXT}\n")
    (tmp_path / "README.md").write_text("not a run")
    with lzma.open(tmp_path / "packed.jsonl.xz", "wt") as packed:
        packed.write(TEXT)
    assert len(list(read(tmp_path))) == 4
    assert len(list(read(tmp_path / "lines.jsonl"))) == 2
    (found,) = read(tmp_path / "packed.jsonl.xz")
    assert (found.system, found.messages[0].text) == ("You help.", "Read the file.")


@pytest.mark.parametrize(
    ("name", "data", "complaint"),
    [
        ("runs.jsonl", TEXT.encode() + b"\n{}\n", "runs.jsonl, line 2: suite_name: "),
        (
            "runs.jsonl",
            TEXT.encode() + b"\n{half",
            "runs.jsonl, line 2: the line is not valid JSON",
        ),
        ("runs.jsonl", b"[" * 100_000, "runs.jsonl, line 1: the line is not valid JSON"),
        ("runs.jsonl", b"\xff\xfe", r"cannot be read \(UnicodeDecodeError\)"),
        ("runs.jsonl.xz", b"not packed", r"cannot be read \(LZMAError\)"),
        ("runs.jsonl.xz", lzma.compress(TEXT.encode())[:-20], r"cannot be read \(EOFError\)"),
        ("run.json", b"{}", "run.json: suite_name: "),
        ("runs.txt", b"", "no .json, .jsonl or .jsonl.xz file"),
    ],
)
def test_what_is_no_run_is_named_by_file_and_line(
    tmp_path: Path, name: str, data: bytes, complaint: str
) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(WireFormatError, match=complaint):
        list(read(tmp_path / name))


def test_a_file_that_is_not_there_and_a_folder_without_runs(tmp_path: Path) -> None:
    with pytest.raises(WireFormatError, match=r"cannot be read \(FileNotFoundError\)"):
        list(read(tmp_path / "none.jsonl"))
    with pytest.raises(WireFormatError, match="no .json"):
        list(read(tmp_path))
