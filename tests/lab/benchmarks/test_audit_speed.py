import json
import os
import subprocess
import sys
from pathlib import Path

import audit_speed
import pytest

from taskshield.audit.logs.input_files import find
from tests.audit.log_files import clean, hijacked, write

SCRIPT = Path(audit_speed.__file__)


def test_it_runs_as_a_command_and_writes_its_figures_without_paths(tmp_path: Path) -> None:
    """One of its ways; the others are tested with the audit itself."""
    logs = tmp_path / "logs"
    write(logs / "a.jsonl", *(hijacked(number) for number in range(4)))
    write(logs / "b.jsonl", *(clean(number) for number in range(4)))
    options = ["--limit", "6", "--whole", "--mode", "one core"]
    ran = subprocess.run(
        [sys.executable, SCRIPT, logs, *options, "--results", tmp_path / "results"],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "TASKSHIELD_JUDGE": "block-side-effects"},  # it is quick
    )
    assert ran.returncode == 0, ran.stderr
    assert "all modes: the same findings" in ran.stdout
    text = (tmp_path / "results" / "audit.json").read_text()
    written = json.loads(text)
    assert str(tmp_path) not in text
    assert written["command"].startswith(
        "python lab/benchmarks/speed/audit_speed.py logs --limit 6"
    )
    assert written["inputs"] == ["a.jsonl", "b.jsonl"]
    assert written["conversations"] == 6
    assert [row["mode"] for row in written["modes"]] == ["one core"]
    assert written["same_findings"] and written["peak_mib"] > 0
    assert written["whole"]["conversations"] == 8 and written["whole"]["files"] == 2


def test_ratios_are_to_the_first_way() -> None:
    rows = [{"per_second": rate} for rate in (4.0, 7.0, None)]
    assert [row["ratio"] for row in audit_speed._scaled(rows)] == [1.0, 1.75, None]


def test_a_sample_is_chosen_evenly(tmp_path: Path) -> None:
    files = find([str(write(tmp_path / "a.jsonl", *range(10)))], besides=tmp_path / "out")
    assert audit_speed._write(tmp_path / "sample", files, 5) == 5
    assert (tmp_path / "sample").read_text().split() == ["0", "2", "4", "6", "8"]
    assert audit_speed._write(tmp_path / "sample", files, 99) == 10


def test_a_sample_of_one_is_no_sample(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        audit_speed.main(["logs", "--limit", "1"])
    assert "--limit must be at least 2" in capsys.readouterr().err
