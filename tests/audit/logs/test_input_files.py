"""Which files are read, and what they are called."""

from pathlib import Path

import pytest

from taskshield.audit.logs.input_files import find
from taskshield.core.errors import ConfigError

OUT = Path("results")


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    for name in ("b.jsonl", "a.json.gz", "deep/c.jsonl.zst", "deep/d.eval", "notes.txt", "x.gz"):
        path = tmp_path / "logs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return tmp_path / "logs"


def names(*paths: object, besides: Path = OUT) -> list[str]:
    return [file.name for file in find([str(path) for path in paths], besides=besides)]


def test_a_folder_is_looked_through_for_logs(logs: Path) -> None:
    assert names(logs) == ["a.json.gz", "b.jsonl", "deep/c.jsonl.zst", "deep/d.eval"]


def test_a_file_that_is_named_is_read_whatever_it_is_called(logs: Path) -> None:
    (found,) = find([str(logs / "notes.txt")], besides=OUT)
    assert (found.name, found.size) == ("notes.txt", len("notes.txt"))


def test_a_pattern(logs: Path) -> None:
    assert names(logs / "**" / "*.zst") == ["c.jsonl.zst"]


def test_each_file_is_read_once_in_the_order_in_which_it_is_named(logs: Path) -> None:
    assert names(logs / "deep" / "d.eval", logs)[0] == "deep/d.eval"
    assert len(names(logs, logs, logs / "b.jsonl")) == 4


def test_names_begin_where_all_paths_meet(logs: Path) -> None:
    other = logs.parent / "other" / "b.jsonl"
    other.parent.mkdir()
    other.write_text("")
    assert names(logs / "b.jsonl", other) == ["logs/b.jsonl", "other/b.jsonl"]


def test_results_among_the_logs_are_no_logs(logs: Path) -> None:
    (logs / "results").mkdir()
    (logs / "results" / "findings.jsonl").write_text("{}")
    assert len(names(logs)) == 5
    assert len(names(logs, besides=logs / "results")) == 4


@pytest.mark.parametrize("pattern", ["", "**/*.jsonl", "*"])
def test_a_link_that_leads_out_of_the_folder_is_refused(pattern: str, logs: Path) -> None:
    (logs.parent / "private.jsonl").write_text("{}")
    (logs / "link.jsonl").symlink_to(logs.parent / "private.jsonl")
    with pytest.raises(ConfigError, match=r"link\.jsonl is a link that leads out of"):
        names(logs / pattern)


def test_a_link_within_the_folder_and_a_link_that_is_named_are_read(logs: Path) -> None:
    (logs / "same.jsonl").symlink_to(logs / "deep" / "c.jsonl.zst")
    assert len(names(logs)) == 4
    assert names(logs / "same.jsonl") == ["c.jsonl.zst"]


def test_a_link_to_a_folder_outside_is_no_way_out(logs: Path) -> None:
    (logs.parent / "private").mkdir()
    (logs.parent / "private" / "x.jsonl").write_text("{}")
    (logs / "link").symlink_to(logs.parent / "private")
    with pytest.raises(ConfigError, match="leads out of"):
        names(logs / "**" / "*.jsonl")


@pytest.mark.parametrize("path", ["nowhere", "*.jsonl", "empty"])
def test_a_path_without_logs_is_an_error(path: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigError, match="has no log that can be read"):
        names(tmp_path / path)
