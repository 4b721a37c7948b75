"""Tables as values, and their layout on a terminal.

The texts of a grid are complete and safe to show. `tables` makes them; `html` shows them in a
browser.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

_GAP = 2
"""Blanks between columns."""
_LABEL_WIDTH = 24
"""Width to which labels are wrapped if the columns would not fit otherwise."""
_NARROWEST = 8
_MINOR = "dim"


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """Figures that belong together, such as a share and its interval."""

    title: str
    parts: tuple[str, ...] = ("",)
    """Names of the figures, if there are several."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row."""

    label: str
    cells: tuple[tuple[str, ...], ...]
    """For each column, its parts."""
    strong: bool = False
    """Whether it is emphasised."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Rows that belong together."""

    heading: str = ""
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """A table. Rich can print it: columns that do not fit are printed below the others."""

    title: str
    subject: str
    """Heading of the labels."""
    columns: tuple[Column, ...]
    blocks: tuple[Block, ...]
    notes: tuple[str, ...] = ()

    @property
    def has_part_names(self) -> bool:
        """Whether any part of a column has a name."""
        return any(any(column.parts) for column in self.columns)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Title, rows and notes, within the width of the console."""
        yield Text(self.title, "bold")
        widths = [self._part_widths(index) for index in range(len(self.columns))]
        totals = [
            max(cell_len(column.title), _joined_width(parts))
            for column, parts in zip(self.columns, widths, strict=True)
        ]
        label = self._label_width(options.max_width, totals)
        for chunk in _chunks(totals, options.max_width - label):
            yield Text()
            yield self._head(chunk, widths, totals, label)
            for number, block in enumerate(self.blocks):
                if block.heading:
                    heading = Text(block.heading, "bold cyan")
                    yield Padding(heading, (1 if number else 0, 0, 0, 0))
                if block.rows:
                    yield _lines(block.rows, chunk, widths, totals, label)
        if self.notes:
            yield Text()
        for note in self.notes:
            yield Text(note, _MINOR)

    def _part_widths(self, index: int) -> list[int]:
        rows = (row.cells[index] for block in self.blocks for row in block.rows)
        return [
            max(map(cell_len, parts))
            for parts in zip(self.columns[index].parts, *rows, strict=True)
        ]

    def _label_width(self, width: int, totals: list[int]) -> int:
        """As wide as the longest label, or narrower if the columns need the space."""
        labels = [row.label for block in self.blocks for row in block.rows]
        longest = max(map(cell_len, (self.subject, *labels)))
        with_all = width - sum(total + _GAP for total in totals)
        with_one = width - max(totals) - _GAP
        return max(_NARROWEST, min(longest, max(with_all, _LABEL_WIDTH), with_one))

    def _head(self, chunk: range, widths: list[list[int]], totals: list[int], label: int) -> Table:
        head = _frame(chunk, totals, label)
        titles = [Text(self.columns[index].title, "bold") for index in chunk]
        names = [_joined(self.columns[index].parts, widths[index]) for index in chunk]
        named = any(names)
        head.add_row(Text("" if named else self.subject, "bold"), *titles)
        if named:
            head.add_row(Text(self.subject, "bold"), *(Text(each, _MINOR) for each in names))
        return head


def _lines(
    rows: tuple[Row, ...], chunk: range, widths: list[list[int]], totals: list[int], label: int
) -> Table:
    table = _frame(chunk, totals, label)
    for row in rows:
        cells = (Text(_joined(row.cells[index], widths[index])) for index in chunk)
        table.add_row(Text(row.label), *cells, style="bold" if row.strong else None)
    return table


def _frame(chunk: range, totals: list[int], label: int) -> Table:
    """An empty table with these widths, so that tables below each other are aligned."""
    table = Table.grid(padding=(0, _GAP, 0, 0), pad_edge=False)
    table.add_column(width=label, overflow="fold")
    for index in chunk:
        table.add_column(width=totals[index], justify="right", no_wrap=True)
    return table


def _joined(parts: tuple[str, ...], widths: list[int]) -> str:
    padded = (
        " " * (width - cell_len(part)) + part for part, width in zip(parts, widths, strict=True)
    )
    return " ".join(padded) if any(parts) else ""


def _joined_width(widths: list[int]) -> int:
    return sum(widths) + len(widths) - 1


def _chunks(totals: list[int], room: int) -> Iterator[range]:
    """Groups of columns that fit, with at least one column each."""
    start, used = 0, 0
    for index, total in enumerate(totals):
        if index > start and used + total + _GAP > room:
            yield range(start, index)
            start, used = index, 0
        used += total + _GAP
    yield range(start, len(totals))
