import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from taskshield.cli.main import main
from tests.stores.maintenance.test_repair import overwrite, used

Captured = pytest.CaptureFixture[str]


def test_a_store_is_checked_and_repaired(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    url = f"sqlite:///{tmp_path}/a.db"
    used(url)
    assert main(["db", "check", "--store", url]) == 0
    shown = capsys.readouterr()
    assert "taskshield_records" in shown.out and "All of the store can be read" in shown.err
    assert main(["db", "repair", "--store", url]) == 0
    assert "Nothing had to be moved" in capsys.readouterr().err
    with closing(sqlite3.connect(tmp_path / "a.db", isolation_level=None)) as file:
        file.execute("UPDATE taskshield_sessions SET state = 'x\x1b[31m', messages = 'y'")
    assert main(["db", "check", "--store", url]) == 1
    shown = capsys.readouterr()
    assert shown.out.count("problem: ") == 2 and "\x1b" not in shown.out
    assert main(["db", "repair", "--store", url]) == 1
    assert "moved 2 rows to taskshield-quarantine.jsonl.gz" in capsys.readouterr().err
    assert main(["db", "check", "--store", url]) == 0


def test_a_damaged_file_is_saved_into_a_new_one(tmp_path: Path, capsys: Captured) -> None:
    url, new = f"sqlite:///{tmp_path}/a.db", tmp_path / "new.db"
    used(url, sessions=10)
    overwrite(tmp_path / "a.db", "taskshield_records")
    options = ["db", "repair", "--store", url, "--quarantine", str(tmp_path / "rest")]
    assert main(options) == 2
    assert "--into" in capsys.readouterr().err
    assert main([*options, "--into", str(new)]) == 1
    assert "rows were lost" in capsys.readouterr().err
    assert main(["db", "check", "--store", f"sqlite:///{new}"]) == 0
    assert main(["db", "check", "--store", f"sqlite:///{tmp_path}/none.db"]) == 2
