"""Stored formats are frozen by the release that first has them."""

from pathlib import Path

import pytest
from tools.release.__main__ import release
from tools.release.refusal import Refusal

from tests.tools.release.small_repository import git, make, quick_build
from tools.release import file_edits

ROOT = Path(__file__).parents[3]


def test_no_fixture_of_a_released_format_has_changed() -> None:
    file_edits.check_formats(ROOT)
    formats = {int(path.name) for path in (ROOT / file_edits.FORMATS).iterdir() if path.is_dir()}
    frozen = {int(name.partition("/")[0]) for name in file_edits.frozen_formats(ROOT)}
    # The newest may not have been released yet.
    assert formats - {max(formats)} <= frozen <= formats


def test_a_release_freezes_the_fixtures_of_new_formats(tmp_path: Path) -> None:
    root = make(tmp_path / "repository")
    release(root, "0.2.0", checks="true", build=quick_build)
    assert file_edits.frozen_formats(root).keys() == {"1/session.json"}
    new = root / file_edits.FORMATS / "2" / "head.json"
    new.parent.mkdir()
    new.write_text('{"version": 2}\n')
    note = (root / file_edits.CHANGELOG).read_text().replace("Unreleased\n", "Unreleased\n\n- X.\n")
    (root / file_edits.CHANGELOG).write_text(note)
    git(root, "add", ".")
    git(root, "commit", "--quiet", "--message", "Second format")
    release(root, "0.3.0", checks="true", build=quick_build)
    lines = (root / file_edits.FROZEN).read_text().splitlines()
    assert [line.split("\t")[0] for line in lines] == ["release", "0.2.0", "0.3.0"]
    assert "frozen.tsv" in git(root, "show", "--stat", "--format=", "v0.3.0")


@pytest.mark.parametrize("change", ["rewrite", "delete"])
def test_a_frozen_fixture_that_changes_stops_the_release(tmp_path: Path, change: str) -> None:
    root = make(tmp_path / "repository")
    file_edits.freeze_formats(root, "0.1.0")
    fixture = root / file_edits.FORMATS / "1" / "session.json"
    fixture.write_text("[]\n") if change == "rewrite" else fixture.unlink()
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "Change")
    with pytest.raises(Refusal, match=r"1/session\.json is frozen by a release and has changed"):
        release(root, "0.2.0", checks="true", build=quick_build)


def test_a_file_that_does_not_name_the_version_once_is_refused(tmp_path: Path) -> None:
    root = make(tmp_path / "repository")
    (root / file_edits.CHART).write_text("name: taskshield\n")
    with pytest.raises(Refusal, match=r"Chart\.yaml names the version 0 times"):
        file_edits.set_version(root, "0.2.0")
    (root / file_edits.VERSION_FILE).write_text("")
    with pytest.raises(Refusal, match="has no version"):
        file_edits.read_version(root)
