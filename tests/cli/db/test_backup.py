from pathlib import Path

import pytest

from taskshield.cli.main import main
from tests.stores.maintenance.filled import fill, rows_of

Captured = pytest.CaptureFixture[str]


def test_a_store_is_saved_and_restored(tmp_path: Path, capsys: Captured) -> None:
    url, copy, saved = (f"sqlite:///{tmp_path}/{name}" for name in ("a.db", "b.db", "saved"))
    saved = str(tmp_path / "saved")
    fill(url)
    assert main(["db", "backup", saved, "--store", url]) == 0
    written = capsys.readouterr().err
    assert "Wrote 9 rows" in written and "hashes of API keys" in written
    assert main(["db", "restore", saved, "--store", copy]) == 0
    assert "Restored 9 rows of 8 tables" in capsys.readouterr().err
    assert rows_of(copy) == rows_of(url)


def test_what_cannot_be_saved_or_restored_exits_with_2(tmp_path: Path, capsys: Captured) -> None:
    url = f"sqlite:///{tmp_path}/a.db"
    assert main(["db", "backup", str(tmp_path / "saved"), "--store", url]) == 2
    assert "There is no file" in capsys.readouterr().err
    (tmp_path / "saved").write_bytes(b"no backup")
    assert main(["db", "restore", str(tmp_path / "saved"), "--store", url]) == 2
    assert "is no backup" in capsys.readouterr().err
    assert not (tmp_path / "a.db").exists()
    fill(url)
    assert main(["db", "backup", str(tmp_path / "saved"), "--store", url]) == 2
    assert "exists already" in capsys.readouterr().err
