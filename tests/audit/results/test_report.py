"""Figures and pages of reports, from result files with arbitrary texts."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from taskshield.audit.logs.entries import Finished, Unreadable
from taskshield.audit.results import summary as module
from taskshield.audit.results.files import Header, open_results
from taskshield.audit.results.findings import Row
from taskshield.audit.results.outcomes import Result, of_conversation, of_end, of_failure
from taskshield.audit.results.report import markdown
from taskshield.audit.results.summary import OTHERS, Summary, summarise
from tests.audit.results.result_lines import CHECKED, ROW
from tests.cli.hostile import PAYLOADS, hidden

HEADER = Header(taskshield="1", judge="j", version="", settings="", with_text=False, files={})


def conversation(findings: list[Row], **fields: Any) -> Result:
    return of_conversation(replace(CHECKED, findings=len(findings), **fields), findings, 0)


def finding(tool: str | None = "pay", **fields: Any) -> Row:
    return replace(ROW, tool=tool, **fields)


def failure(reason: str) -> Result:
    return of_failure(Unreadable(file="a", line=2, reason=reason, read=0))


def end() -> Result:
    return of_end(Finished(file="a", passed_over=5, closed_early=1, read=0))


def summed(folder: Path, *results: Result) -> Summary:
    writing, _ = open_results(folder, HEADER, resume=False)
    for each in results:
        writing.add(each)
    writing.close()
    return summarise(folder)


def test_all_is_counted(tmp_path: Path) -> None:
    directive = finding("get", kind="directive", tier=None, action="annotate")
    found = summed(
        tmp_path,
        conversation([directive, finding(), finding()], attack="blocked", held=2),
        conversation([directive], attack="seen", unreadable=2),
        conversation([], error="message 7: two tool calls"),
        failure("messages[3].role: one of"),
        failure("messages[12].role: one of"),
        end(),
    )
    assert (found.files, found.conversations, found.failures) == (1, 3, 3)
    assert (found.messages, found.executed, found.skipped, found.unreadable) == (12, 9, 3, 2)
    assert (found.findings, found.suspicious, found.held) == (4, 2, 2)
    assert found.attacks == {"seen": 1, "blocked": 1, "passed": 0}
    assert found.by_kind == {"call": 2, "directive": 2}
    assert found.by_tier == {"financial": 2}
    assert found.by_tool == {"get": 2, "pay": 2}
    assert found.by_action == {"annotate": 2, "revise": 2}
    assert found.failure_reasons == {
        "messages[N].role: one of": 2,
        "message N: two tool calls": 1,
    }
    assert (found.passed_over, found.closed_early) == (5, 1)
    page = markdown(found, "embedded")
    assert "| attacks that would have been blocked | 1 |" in page
    assert "| conversations with injected directives | 2 |" in page
    assert "| `financial` | 2 |" in page
    assert "- `a`, 2: `messages[3].role: one of`" in page


def test_names_that_never_end_take_no_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_NAMES", 3)
    many = [finding(f"tool-{number}") for number in range(10)]
    found = summed(tmp_path, conversation(many))
    assert len(found.by_tool) == 4 and found.by_tool[OTHERS] == 7


def test_long_tables_are_cut_in_the_page(tmp_path: Path) -> None:
    many = [finding(f"tool-{number}") for number in range(50)]
    assert "| and 20 more | |" in markdown(summed(tmp_path, conversation(many)), "j")


@pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS)
def test_names_cannot_take_over_the_page(payload: str, tmp_path: Path) -> None:
    tool = f"{payload} | x ` <b>\n# Title"
    found = summed(tmp_path, conversation([finding(tool, file=tool)]), failure(tool))
    page = markdown(found, payload)
    assert not hidden(page)
    assert "\n# Title" not in page
    for line in page.splitlines():
        if line.startswith("| `"):
            assert line.count("|") == 3 and line.count("`") == 2


def test_a_clean_page_is_short(tmp_path: Path) -> None:
    page = markdown(summed(tmp_path, conversation([])), "embedded")
    assert "## Findings" not in page and "## Unreadable entries" not in page
