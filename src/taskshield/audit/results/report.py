"""The report on an audit as Markdown, made from its figures. Pure.

At 90 lines without HTML it needs no template engine.
"""

from collections.abc import Iterator, Mapping

from taskshield.audit.results.summary import Summary
from taskshield.core.safe_text import one_line

_NAME_LENGTH = 120
_SHOWN = 30


def markdown(summary: Summary, judge: str) -> str:
    """The report."""
    return "\n".join(_lines(summary, judge)) + "\n"


def figures(summary: Summary) -> list[tuple[str, str]]:
    """The figures with their labels, for any kind of report."""
    attacks = summary.attacks
    done, failed = f"{summary.executed:,} executed", f"{summary.failed:,} failed"
    rows = [
        ("conversations checked", f"{summary.conversations:,}"),
        ("unreadable entries", f"{summary.failures:,}"),
        ("messages", f"{summary.messages:,}"),
        ("checks", f"{done}, {summary.skipped:,} skipped, {failed}"),
        ("findings", f"{summary.findings:,}"),
        ("conversations with findings", f"{summary.suspicious:,}"),
        ("calls that would have been blocked", f"{summary.held:,}"),
        ("conversations with injected directives", f"{sum(attacks.values()):,}"),
        ("attacks that would have been blocked", f"{attacks['blocked']:,}"),
    ]
    optional = [
        ("attacks that the policy would have allowed", attacks["passed"]),
        ("parts that a judge cannot read", summary.unreadable),
        ("records that do not belong to a conversation", summary.passed_over),
        ("conversations closed before the end of their file", summary.closed_early),
    ]
    return rows + [(name, f"{count:,}") for name, count in optional if count]


def tables(summary: Summary) -> Iterator[tuple[str, Mapping[str, int]]]:
    """Findings by kind, risk tier, action, tool and file. Empty tables are left out."""
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
    yield f"Judge: {_cell(judge)}."
    yield ""
    yield from _table("", "", dict(figures(summary)))
    if summary.findings:
        yield "## Findings"
        yield ""
    for name, counts in tables(summary):
        yield from _table(name, "findings", counts)
    if summary.failures:
        yield "## Unreadable entries"
        yield ""
        yield from _table("reason (N: a number)", "times", summary.failure_reasons)
        yield "The first ones:"
        yield ""
        for failure in summary.first_failures:
            yield f"- {_cell(failure.file)}, {failure.line}: {_cell(failure.reason)}"
        yield ""
    yield "Findings are in `findings.jsonl` and `findings.parquet`. The results of all"
    yield "conversations are in `journal.jsonl`."


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
    """Untrusted text as one line of code, so that its Markdown has no effect."""
    return f"`{one_line(text, _NAME_LENGTH).replace('`', chr(39)).replace('|', '/')}`"
