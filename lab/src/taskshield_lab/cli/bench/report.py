"""`taskshield bench report`: tables, plots and an HTML page from records."""

import argparse
from pathlib import Path

from taskshield.cli import terminal
from taskshield_lab.cli.bench import print_results
from taskshield_lab.cli.bench.missing_extra import needs_eval
from taskshield_lab.cli.bench.options import command_line, count, file_name

_DESCRIPTION = """\
Print all tables, with the paper's figures beside ours. Write the plots (SVG and
PNG) and an HTML page with the tables, the plots and the worst cases.
"""


def add_parser(subcommands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add this command to the command line."""
    parser = subcommands.add_parser(
        "report",
        help="make tables, plots and an HTML page from records",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "records", nargs="+", type=Path, metavar="FILE", help="a .jsonl file of records"
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("bench-results", "report"),
        metavar="FOLDER",
        help="folder for the plots and the page (default: bench-results/report)",
    )
    parser.add_argument(
        "--cases",
        type=count,
        default=5,
        metavar="N",
        help="worst cases per kind and entry (default: 5)",
    )
    terminal.add_color(parser)
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Print the tables and write the plots and the page.

    Raises:
        TaskShieldError: A file of records is damaged.
    """
    with needs_eval():
        from taskshield_lab.bench.report.entries import comparable
        from taskshield_lab.bench.report.html.page import page
        from taskshield_lab.bench.report.plots.canvas import save
        from taskshield_lab.bench.report.plots.heat_map import heat_map
        from taskshield_lab.bench.report.plots.tradeoff import tradeoff
    entries = print_results.read(given.records)
    print_results.show(entries, color=given.color, paper=True)
    given.out.mkdir(parents=True, exist_ok=True)
    for title, group in comparable(entries).items():
        save(tradeoff(group, title=title, paper=True), given.out / f"tradeoff-{file_name(title)}")
    save(heat_map(entries), given.out / "heat-map")
    commands = [*print_results.commands(given.records), command_line(given)]
    text = page(entries, commands=commands, limit=given.cases)
    (given.out / "report.html").write_text(text, encoding="utf-8")
    terminal.remark(f"The plots and report.html were written to {given.out}.")
    return 0
