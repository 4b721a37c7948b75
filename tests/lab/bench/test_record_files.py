"""Files of records: nothing is lost, nothing is mixed up, nothing damaged is believed."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from taskshield.core.errors import ConfigError, WireFormatError
from taskshield_lab.bench import record_files
from taskshield_lab.bench.records import BenchmarkRun
from tests.lab.bench import synthetic

HEADER = synthetic.header()
RUNS = [
    synthetic.run(task=task, goal=goal, utility=True, steps=synthetic.conversation())
    for task in range(3)
    for goal in (None, 0)
]


def write(
    path: Path, runs: list[BenchmarkRun], *, existing: record_files.Existing = "refuse"
) -> frozenset[str]:
    writer, there = record_files.begin(path, HEADER, existing=existing)
    with closing(writer):
        for run in runs:
            writer.add(record_files.line(run))
    return frozenset(run.id for run in there)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "records.jsonl"
    assert write(path, RUNS) == frozenset()
    found = record_files.read(path)
    assert found.header == HEADER
    assert list(found.runs) == RUNS


def test_a_run_is_there_before_the_next_one_is_over(tmp_path: Path) -> None:
    writer, _ = record_files.begin(tmp_path / "records.jsonl", HEADER, existing="refuse")
    with closing(writer):
        writer.add(record_files.line(RUNS[0]))
        assert record_files.read(tmp_path / "records.jsonl").runs == (RUNS[0],)


def test_an_interrupted_benchmark_is_resumed(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    write(path, RUNS[:2])
    with path.open("a") as file:
        file.write('{"suite": "bank')  # the power went
    done = write(path, RUNS[2:], existing="resume")
    assert done == {run.id for run in RUNS[:2]}
    assert list(record_files.read(path).runs) == RUNS


def test_resuming_without_records_starts_new_ones(tmp_path: Path) -> None:
    assert write(tmp_path / "records.jsonl", RUNS, existing="resume") == frozenset()


def test_an_unfinished_header_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    path.write_text('{"way": "wor')
    assert write(path, RUNS, existing="resume") == frozenset()
    assert list(record_files.read(path).runs) == RUNS


def test_records_are_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    write(path, RUNS)
    with pytest.raises(ConfigError, match="already exists. Use --resume"):
        write(path, [])
    assert list(record_files.read(path).runs) == RUNS


def test_records_are_overwritten_on_request(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    path.write_text("anything")
    assert write(path, RUNS, existing="overwrite") == frozenset()
    assert write(path, RUNS[:1], existing="overwrite") == frozenset()
    assert list(record_files.read(path).runs) == RUNS[:1]


def test_records_of_another_benchmark_are_not_resumed(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    write(path, RUNS)
    other = replace(HEADER, judge="somebody else", version="v1.2.2")
    with pytest.raises(ConfigError, match="to another benchmark: judge differs, version differs"):
        record_files.begin(path, other, existing="resume")


@pytest.mark.parametrize(
    ("line", "data", "complaint"),
    [
        (1, "{}", "line 1: "),
        (1, "not json", "line 1: .*not JSON"),
        (3, "{}", "line 3: "),
        (3, '{"suite": 7}', "line 3: "),
        (4, "\udcff", r"cannot be read \(UnicodeDecodeError\)"),
    ],
)
def test_a_damaged_line_is_named(tmp_path: Path, line: int, data: str, complaint: str) -> None:
    path = tmp_path / "records.jsonl"
    write(path, RUNS)
    lines = path.read_text().splitlines()
    lines[line - 1] = data
    path.write_text("\n".join(lines) + "\n", errors="surrogateescape")
    with pytest.raises(WireFormatError, match=complaint):
        record_files.read(path)


def test_two_records_of_one_run_are_an_error(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    write(path, [RUNS[0], RUNS[0]])
    with pytest.raises(WireFormatError, match="line 3: the file has two records of the same run"):
        record_files.read(path)


@pytest.mark.parametrize("text", ["", None])
def test_no_records_at_all(tmp_path: Path, text: str | None) -> None:
    path = tmp_path / "records.jsonl"
    if text is not None:
        path.write_text(text)
    with pytest.raises(WireFormatError):
        record_files.read(path)


def test_a_run_that_failed_may_be_recorded_again(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    write(path, [replace(RUNS[0], error="timed out"), RUNS[1], RUNS[0]])
    assert list(record_files.read(path).runs) == [RUNS[0], RUNS[1]]


def test_a_benchmark_without_runs_overwrites_nothing(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    write(path, RUNS)
    write(path, [], existing="overwrite")
    assert list(record_files.read(path).runs) == RUNS
    write(tmp_path / "deep" / "none.jsonl", [])
    assert not (tmp_path / "deep").exists()


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="file/x.jsonl cannot be written: "):
        write(tmp_path / "file" / "x.jsonl", RUNS)
