"""The figures of the server's benchmark as tables."""

from itertools import pairwise

from request_rows import Figures
from rich.console import Console
from rich.table import Table

WIDTH = 130

_NUMBERS = ("clients", "a second", "p50 ms", "p99", "CPU ms", "checks", "blocked")


def show(figures: Figures, console: Console) -> None:
    """Print the figures."""
    console.print(_azure(figures["azure"]))
    if figures["recorded"] is not None:
        console.print(f"recorded conversations: {figures['recorded']}", highlight=False)
    for delay in sorted({row["delay_ms"] for row in figures["chat"]}):
        console.print(_chat([row for row in figures["chat"] if row["delay_ms"] == delay], delay))
    if figures["other"] is None:
        console.print("litellm was not measured, because --other was not given")
    else:
        console.print(f"litellm: {figures['other']}, which checks nothing", highlight=False)
    start = figures["start"]
    console.print(
        f"ready after {start['seconds']} s with {start['resident_mib']} MiB; MiB after all:"
        f" {figures['memory_after_mib']}; ms to sync a file: {figures['disk_sync_ms']}",
        highlight=False,
    )
    console.print(_budgets(figures["budgets"]))


def _azure(rows: list[Figures]) -> Table:
    table = _table("the Azure route: what is new in a request", "new", _NUMBERS)
    for row in rows:
        table.add_row(row["new"], *_numbers(row), end_section=row["clients"] > 1)
    return table


def _chat(rows: list[Figures], delay: int) -> Table:
    title = f"chat completions, the provider takes {delay} ms: what the newest message is"
    table = _table(title, "newest", (*_NUMBERS, "of bare", "first p50", "p99", "added"), "server")
    for row, following in pairwise([*rows, {}]):
        first, added = row["first_ms"], row["added_first_ms"]
        table.add_row(
            f"{row['newest']}, {'stream' if row['stream'] else 'JSON'}",
            row["target"],
            *_numbers(row),
            f"{row['of_bare']:.2f}",
            *(("", "") if first is None else (_ms(first["p50"]), _ms(first["p99"]))),
            "" if added is None else _ms(added),
            end_section=row["clients"] != following.get("clients"),
        )
    return table


def _budgets(rows: list[Figures]) -> Table:
    table = Table(title="budgets")
    for column in ("what", "budget", "measured", ""):
        table.add_column(column, no_wrap=True, justify="left" if column == "what" else "right")
    for row in rows:
        verdict = "met" if row["met"] else "MISSED"
        table.add_row(row["what"], row["budget"], f"{row['measured']:g}", verdict)
    return table


def _numbers(row: Figures) -> list[str]:
    whole = row["whole_ms"]
    return [
        str(row["clients"]),
        f"{row['per_second']:.1f}",
        _ms(whole["p50"]),
        _ms(whole["p99"]),
        f"{row['cpu_ms']:.1f}",
        f"{row['checks']:g}",
        str(row["held_back"]),
    ]


def _table(title: str, first: str, numbers: tuple[str, ...], *texts: str) -> Table:
    table = Table(title=title, padding=(0, 0, 0, 1))
    for column in (first, *texts):
        table.add_column(column, no_wrap=True)
    for column in numbers:
        table.add_column(column, justify="right", no_wrap=True)
    return table


def _ms(value: float) -> str:
    return f"{value:.1f}"
