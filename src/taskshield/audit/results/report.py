"""The report on an audit as a page of Markdown. Pure: from figures to text."""

from collections.abc import Iterator, Mapping

from taskshield.audit.results.summary import Summary
from taskshield.core.safe_text import one_line

_NAME_LENGTH = 120
_SHOWN = 30


def markdown(summary: Summary, judge: str) -> str:
    """The page."""
    return "\n".join(_lines(summary, judge)) + "\n"


def figures(summary: Summary) -> list[tuple[str, str]]:
    """The figures with what each counts, for any kind of report."""
    attacks = summary.attacks
    done, failed = f"{summary.executed:,} executed", f"{summary.failed:,} failed"
    rows = [
        ("conversations checked", f"{summary.conversations:,}"),
        ("could not be read", f"{summary.failures:,}"),
        ("messages", f"{summary.messages:,}"),
        ("checks", f"{done}, {summary.skipped:,} skipped, {failed}"),
        ("findings", f"{summary.findings:,}"),
        ("conversations with findings", f"{summary.suspicious:,}"),
        ("calls that would have been held", f"{summary.held:,}"),
        ("conversations with planted directives", f"{sum(attacks.values()):,}"),
        ("attacks that would have been blocked", f"{attacks['blocked']:,}"),
    ]
    optional = [
        ("attacks that policy would have let pass", attacks["passed"]),
        ("parts that no judge can read", summary.unreadable),
        ("records that are no part of a conversation", summary.passed_over),
        ("conversations closed before the end of their file", summary.closed_early),
    ]
    return rows + [(name, f"{count:,}") for name, count in optional if count]


def tables(summary: Summary) -> Iterator[tuple[str, Mapping[str, int]]]:
    """Findings by several things; those that tell nothing are left out."""
    for name, counts in (
        ("kind", summary.by_kind),
        ("risk tier", summary.by_tier),
        ("action", summary.by_action),
        ("tool", summary.by_tool),
        ("file", summary.by_file),
    ):
        if counts:
            yield name, counts


def _lines(summary: Summary, judge: str) -> Iterator[str]:
    yield "# Audit"
    yield ""
    yield f"Judged by {_cell(judge)}."
    yield ""
    yield from _table("", "", dict(figures(summary)))
    if summary.findings:
        yield "## Findings"
        yield ""
    for name, counts in tables(summary):
        yield from _table(name, "findings", counts)
    if summary.failures:
        yield "## Could not be read"
        yield ""
        yield from _table("reason (N: a number)", "times", summary.failure_reasons)
        yield "The first of them:"
        yield ""
        for failure in summary.first_failures:
            yield f"- {_cell(failure.file)}, {failure.line}: {_cell(failure.reason)}"
        yield ""
    yield "Findings are in `findings.jsonl` and `findings.parquet`, and what became of each"
    yield "conversation in `journal.jsonl`."


def _table(left: str, right: str, rows: Mapping[str, int] | Mapping[str, str]) -> Iterator[str]:
    yield f"| {left} | {right} |"
    yield "| --- | ---: |"
    for name, value in list(rows.items())[:_SHOWN]:
        yield (
            f"| {_cell(name)} | {value:,} |" if isinstance(value, int) else f"| {name} | {value} |"
        )
    if len(rows) > _SHOWN:
        yield f"| and {len(rows) - _SHOWN:,} more | |"
    yield ""


def _cell(text: str) -> str:
    """Text of others, which may hold what Markdown obeys, as code in one line."""
    return f"`{one_line(text, _NAME_LENGTH).replace('`', chr(39)).replace('|', '/')}`"
