"""A whole audit: every file of its results, however and however often it is run."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from taskshield.audit.logs.entries import Entry, Recorded
from taskshield.audit.logs.input_files import find
from taskshield.audit.replay import workers
from taskshield.audit.replay.checker import Checker, Plan
from taskshield.audit.results.outcomes import Result
from taskshield.audit.run import Audit, run
from taskshield.core.errors import ConfigError, JudgeUnavailable, MissingExtraError, TaskShieldError
from tests.audit.judged import judge, judged_by
from tests.audit.log_files import clean, hijacked, spans, traced, write
from tests.judging import TableJudge

FILES = ("findings.jsonl", "findings.parquet", "journal.jsonl", "report.md", "summary.json")
BY_RULE = Plan(judge="block-side-effects")


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    folder = tmp_path / "logs"
    mixed = [clean(1), hijacked(2), {"no": "log"}, hijacked(3), clean(4)]
    write(folder / "a.jsonl", *mixed)
    with (folder / "a.jsonl").open("ab") as file:
        file.write(b'{"cut": \n')
    write(folder / "b.jsonl", *(spans(each) for each in traced(hijacked(5), "t5")), {"runs": []})
    return folder


def audit(logs: Path, out: Path, **fields: Any) -> Audit:
    files = tuple(find([str(logs)], besides=out))
    return Audit(files=files, out=out, **{"plan": BY_RULE, **fields})


def contents(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in FILES}


def test_all_files_are_written(logs: Path, tmp_path: Path) -> None:
    found = run(audit(logs, tmp_path / "out"))
    assert (found.conversations, found.failures, found.files) == (5, 2, 2)
    assert (found.findings, found.held, found.suspicious) == (3, 3, 3)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(FILES)
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["by_tool"] == {"send_email": 3}
    assert summary["by_file"] == {"a.jsonl": 2, "b.jsonl": 1}


def test_parquet_holds_what_the_lines_hold(logs: Path, tmp_path: Path) -> None:
    run(audit(logs, tmp_path / "out"))
    table = pyarrow.parquet.read_table(tmp_path / "out" / "findings.parquet")
    text = (tmp_path / "out" / "findings.jsonl").read_text()
    assert table.to_pylist() == [json.loads(line) for line in text.splitlines()]
    types = {field.name: str(field.type) for field in table.schema}
    assert (types["line"], types["held"], types["score"], types["text"]) == (
        "int64",
        "bool",
        "double",
        "string",
    )


def test_parquet_of_nothing_has_the_columns_all_the_same(tmp_path: Path) -> None:
    write(tmp_path / "logs" / "a.jsonl", clean(1))
    run(audit(tmp_path / "logs", tmp_path / "out"))
    table = pyarrow.parquet.read_table(tmp_path / "out" / "findings.parquet")
    assert table.num_rows == 0 and "conversation" in table.column_names


def test_text_that_parquet_cannot_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    judged_by(judge(), monkeypatch)
    write(tmp_path / "logs" / "a.jsonl", {**hijacked(1), "id": "half \ud83d"})
    run(audit(tmp_path / "logs", tmp_path / "out"))
    table = pyarrow.parquet.read_table(tmp_path / "out" / "findings.parquet")
    assert table["conversation"].to_pylist() == ["half ?"] * 2


def test_results_hold_no_path_of_this_machine(logs: Path, tmp_path: Path) -> None:
    run(audit(logs, tmp_path / "out"))
    for data in contents(tmp_path / "out").values():
        assert str(tmp_path).encode() not in data


def test_the_same_audit_gives_the_same_files(logs: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        run(audit(logs, tmp_path / name))
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_processes_give_the_same_files(logs: Path, tmp_path: Path) -> None:
    run(audit(logs, tmp_path / "one"))
    run(audit(logs, tmp_path / "two", workers=2))
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def interrupted_after(results: int) -> Callable[[Result], None]:
    seen = 0

    def watch(result: Result) -> None:
        nonlocal seen
        seen += 1
        if seen == results:
            raise KeyboardInterrupt

    return watch


def test_wherever_it_is_interrupted_it_goes_on_and_checks_nothing_twice(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked: list[str] = []
    check = Checker.check

    def counting(self: Checker, entry: Entry) -> Result:
        if isinstance(entry, Recorded):
            checked.append(entry.id)
        return check(self, entry)

    monkeypatch.setattr(Checker, "check", counting)
    run(audit(logs, tmp_path / "whole"))
    whole = list(checked)
    assert len(whole) == 5
    for results in range(1, 10):
        out = tmp_path / f"after-{results}"
        checked.clear()
        with pytest.raises(KeyboardInterrupt):
            run(audit(logs, out), interrupted_after(results))
        assert not (out / "summary.json").exists()
        run(audit(logs, out, resume=True))
        assert checked == whole
        assert contents(out) == contents(tmp_path / "whole")


def test_an_audit_that_is_at_its_end_can_be_resumed(logs: Path, tmp_path: Path) -> None:
    first = run(audit(logs, tmp_path / "out"))
    seen: list[Result] = []
    assert run(audit(logs, tmp_path / "out", resume=True), seen.append) == first
    assert seen == []


def test_a_changed_log_is_not_resumed(logs: Path, tmp_path: Path) -> None:
    run(audit(logs, tmp_path / "out"))
    write(logs / "a.jsonl", clean(1))
    with pytest.raises(ConfigError, match="These differ: files"):
        run(audit(logs, tmp_path / "out", resume=True))


def test_a_limit_stops_early_and_the_rest_can_follow(logs: Path, tmp_path: Path) -> None:
    found = run(audit(logs, tmp_path / "out", limit=3))
    assert found.conversations + found.failures == 3
    run(audit(logs, tmp_path / "whole"))
    run(audit(logs, tmp_path / "out", resume=True))
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


def test_a_judge_that_does_not_answer_is_reported_first(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged_by(TableJudge(error=JudgeUnavailable("wrong key")), monkeypatch)
    with pytest.raises(ConfigError, match=r"The judge gave no verdict \(unavailable\): wrong key"):
        run(audit(logs, tmp_path / "out"))
    assert not (tmp_path / "out").exists()


def test_without_pyarrow_nothing_is_begun(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"taskshield\[audit\]"):
        run(audit(logs, tmp_path / "out"))
    assert not (tmp_path / "out").exists()


def test_a_worker_that_dies_is_an_error_and_not_a_hang(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "_initialise", _die)
    with pytest.raises(TaskShieldError, match="A worker process ended unexpectedly"):
        run(audit(logs, tmp_path / "out", workers=2))


def _die(plan: Plan) -> None:
    sys.exit(1)


def test_the_shipped_judge_finds_the_attack(tmp_path: Path) -> None:
    """The embedded judge, on the example of a hijacked agent that comes with the package."""
    examples = Path(__file__).parents[2] / "examples"
    files = tuple(find([str(examples / "*.json")], besides=tmp_path))
    found = run(Audit(files=files, out=tmp_path / "out"))
    assert found.attacks["blocked"] == 1 and found.suspicious == 1
    assert found.by_file == {"hijacked.json": found.findings}
