"""Files that can be broken off at any byte."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from taskshield.audit.logs.entries import Finished
from taskshield.audit.results.files import FINDINGS, JOURNAL, Done, Header, lines, open_results
from taskshield.audit.results.outcomes import Result, of_conversation, of_end
from taskshield.core.errors import ConfigError
from tests.audit.results.result_lines import CHECKED, ROW

HEADER = Header(
    taskshield="1",
    judge="embedded",
    version="m1",
    settings="abc",
    with_text=False,
    files={"a.jsonl": 5},
)


def result(number: int, findings: int = 0) -> Result:
    rows = [replace(ROW, conversation=str(number), line=n) for n in range(findings)]
    return of_conversation(replace(CHECKED, line=number, findings=findings), rows, number)


END = of_end(Finished(file="a.jsonl", passed_over=0, closed_early=0, read=5))


def written(folder: Path, *results: Result) -> bytes:
    writing, _ = open_results(folder, HEADER, resume=False)
    for each in results:
        writing.add(each)
    writing.close()
    return (folder / JOURNAL).read_bytes() + (folder / FINDINGS).read_bytes()


ALL = [result(1, 2), result(2), result(3, 1), result(4, 3), END]


def test_lines_are_written_in_order(tmp_path: Path) -> None:
    written(tmp_path, *ALL)
    assert [line.get("line") for line in lines(tmp_path, JOURNAL)] == [1, 2, 3, 4, None]
    assert [line["conversation"] for line in lines(tmp_path, FINDINGS)] == list("113444")


def test_an_audit_that_is_there_is_not_overwritten(tmp_path: Path) -> None:
    written(tmp_path, *ALL)
    with pytest.raises(ConfigError, match="Use --resume to continue it"):
        open_results(tmp_path, HEADER, resume=False)


def test_resuming_without_results_starts_new_ones(tmp_path: Path) -> None:
    writing, done = open_results(tmp_path / "new", HEADER, resume=True)
    writing.close()
    assert done.entries == {} and done.ended == frozenset()


def test_what_is_done_is_known(tmp_path: Path) -> None:
    written(tmp_path, *ALL)
    writing, done = open_results(tmp_path, HEADER, resume=True)
    writing.close()
    assert done == Done(entries={"a.jsonl": 4}, ended=frozenset({"a.jsonl"}))


def test_an_interrupted_audit_gives_the_same_files(tmp_path: Path) -> None:
    whole = written(tmp_path / "whole", *ALL)
    journal = (tmp_path / "whole" / JOURNAL).read_bytes()
    findings = (tmp_path / "whole" / FINDINGS).read_bytes()
    begun = journal.index(b"\n") + 1
    for cut in range(begun, len(journal), 7):
        folder = tmp_path / f"cut-{cut}"
        folder.mkdir()
        (folder / JOURNAL).write_bytes(journal[:cut])
        # What a conversation found is written before its line of the journal, be it in part.
        told = sum(json.loads(line).get("findings", 0) for line in _whole_lines(journal[:cut]))
        kept = b"".join(findings.splitlines(keepends=True)[:told])
        (folder / FINDINGS).write_bytes(findings[: len(kept) + cut % 40])
        writing, done = open_results(folder, HEADER, resume=True)
        for each in ALL[sum(done.entries.values()) + len(done.ended) :]:
            writing.add(each)
        writing.close()
        assert (folder / JOURNAL).read_bytes() + (folder / FINDINGS).read_bytes() == whole


def _whole_lines(data: bytes) -> list[bytes]:
    return [line for line in data.splitlines(keepends=True) if line.endswith(b"\n")]


def test_an_unfinished_header_is_replaced(tmp_path: Path) -> None:
    (tmp_path / JOURNAL).write_bytes(b'{"kind": "au')
    writing, done = open_results(tmp_path, HEADER, resume=True)
    writing.close()
    assert done.entries == {} and list(lines(tmp_path, JOURNAL)) == []


def test_another_audit_is_not_resumed(tmp_path: Path) -> None:
    written(tmp_path, *ALL)
    other = Header(
        taskshield="1",
        judge="cascade",
        version="m1",
        settings="abc",
        with_text=False,
        files={"a.jsonl": 9},
    )
    with pytest.raises(ConfigError, match="belongs to another audit. These differ: judge, files"):
        open_results(tmp_path, other, resume=True)


def test_lost_findings_are_noticed(tmp_path: Path) -> None:
    written(tmp_path, *ALL)
    (tmp_path / FINDINGS).write_bytes(b"")
    with pytest.raises(ConfigError, match="lines are missing"):
        open_results(tmp_path, HEADER, resume=True)


def test_damaged_lines_are_noticed(tmp_path: Path) -> None:
    written(tmp_path, *ALL)
    with (tmp_path / JOURNAL).open("ab") as file:
        file.write(b"{broken\n")
    with pytest.raises(ConfigError, match=r"journal.jsonl, line 7 is damaged"):
        open_results(tmp_path, HEADER, resume=True)


@pytest.mark.parametrize("name", [JOURNAL, FINDINGS])
@pytest.mark.parametrize(
    "line", ["[" * 100_000, "7", "[]", "{}", '{"kind": []}', '{"kind": "end", "file": 1}']
)
def test_lines_of_another_shape_are_noticed(name: str, line: str, tmp_path: Path) -> None:
    written(tmp_path, *ALL)
    with (tmp_path / name).open("a") as file:
        file.write(f"{line}\n")
    with pytest.raises(ConfigError, match=rf"{name}, line 7 is damaged"):
        list(lines(tmp_path, name))


@pytest.mark.parametrize("line", ["[" * 100_000, "7", "{", "\xff"])
def test_a_header_of_another_shape_is_noticed(line: str, tmp_path: Path) -> None:
    (tmp_path / JOURNAL).write_text(f"{line}\n", encoding="latin-1")
    with pytest.raises(ConfigError, match=r"journal.jsonl, line 1 is damaged"):
        open_results(tmp_path, HEADER, resume=True)


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot be written: "):
        open_results(tmp_path / "file" / "results", HEADER, resume=False)
