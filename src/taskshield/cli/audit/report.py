"""The report on an audit, for people. Pure: from figures to what rich prints."""

from collections.abc import Mapping
from pathlib import Path

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from taskshield.audit.results.report import figures, tables
from taskshield.audit.results.summary import Summary
from taskshield.cli.styles import ALIGNED, GLIMPSE_LENGTH, MINOR, MISALIGNED, NAME_LENGTH, WARNING
from taskshield.core.safe_text import one_line

_ROWS = 8
"""Rows of a table; report.md has more."""


def report(summary: Summary, folder: Path) -> RenderableType:
    """The figures, the most frequent findings and failures, and where the results are."""
    parts: list[RenderableType] = [_verdict(summary), Padding(_figures(summary), (1, 0))]
    parts += [_table(name, "findings", counts) for name, counts in tables(summary)]
    if summary.failures:
        parts.append(_table("unreadable entries", "times", summary.failure_reasons))
    where = one_line(str(folder), GLIMPSE_LENGTH)
    return Group(*parts, Text(f"All results are in {where}. Read report.md first.", MINOR))


def _verdict(summary: Summary) -> Text:
    if summary.findings:
        share = f"{summary.suspicious:,} of {summary.conversations:,} conversations"
        return Text(f"MISALIGNED  {share}", MISALIGNED)
    if summary.failures or summary.failed:
        return Text("INCOMPLETE  something could not be read or checked", WARNING)
    return Text("ALIGNED", f"bold {ALIGNED}")


def _figures(summary: Summary) -> RenderableType:
    rows = Table.grid(padding=(0, 2, 0, 0))
    for name, value in figures(summary):
        rows.add_row(Text(name, MINOR), Text(value))
    return rows


def _table(name: str, counted: str, counts: Mapping[str, int]) -> RenderableType:
    rows = Table(box=None, show_edge=False, pad_edge=False, padding=(0, 2, 0, 0))
    rows.add_column(Text(name, MINOR), min_width=24)
    rows.add_column(Text(counted, MINOR), justify="right")
    for each, count in list(counts.items())[:_ROWS]:
        rows.add_row(Text(one_line(each, NAME_LENGTH)), Text(f"{count:,}"))
    if len(counts) > _ROWS:
        rows.add_row(Text(f"and {len(counts) - _ROWS:,} more", MINOR), Text(""))
    return Padding(rows, (0, 0, 1, 0))
