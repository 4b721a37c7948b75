"""`taskshield db check`: looks at all of a store."""

import argparse
from typing import TYPE_CHECKING

from rich.table import Table

from taskshield.cli import terminal
from taskshield.cli.db.row_progress import row_progress
from taskshield.core.safe_text import one_line

if TYPE_CHECKING:
    from taskshield.settings import ServerSettings

HELP = "look whether all of the store can be read"
DESCRIPTION = """\
Look at all of the store: the SQLite file, the tables, every row and every
document in it. It changes nothing, and servers may run meanwhile.

exit status:
  0  all of it can be read
  1  something is wrong; each problem is one line
  2  the store cannot be used at all
"""
_PROBLEM_LENGTH = 300
_PROBLEMS = 1


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this subcommand."""
    terminal.add_color(parser)


def run(settings: "ServerSettings", given: argparse.Namespace) -> int:
    """Check the store; the exit status.

    Raises:
        TaskShieldError: The store cannot be used at all.
    """
    from taskshield.cli.db.documents import read_documents
    from taskshield.server.sessions.configured_store import configured_url
    from taskshield.stores.maintenance.check import check

    with row_progress("checking") as progress:
        found = check(configured_url(settings), read_documents, progress)
    table = Table("table", "rows", "not usable", box=None)
    for name, rows in found.rows.items():
        table.add_row(name, str(rows), str(found.bad[name]))
    terminal.show(terminal.output(color=given.color), table)
    for note in found.notes:
        print(f"note: {one_line(note, _PROBLEM_LENGTH)}")
    for problem in found.problems:
        print(f"problem: {one_line(problem, _PROBLEM_LENGTH)}")
    if found.problems:
        terminal.remark("Stop the server and run: taskshield db repair --help")
        return _PROBLEMS
    terminal.remark(f"All of the store can be read (tables of version {found.level}).")
    return 0
