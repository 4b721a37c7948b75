"""`taskshield db backup`: writes all of a store to one file."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from taskshield.cli.db.row_progress import row_progress
from taskshield.cli.terminal import remark

if TYPE_CHECKING:
    from taskshield.settings import ServerSettings

HELP = "write all of the store to one file"
DESCRIPTION = """\
Write all of the store, as it is at one moment, to one new file. Servers may run
meanwhile. The file is the same for SQLite and Postgres, and `taskshield db
restore` reads it into either.

Only its owner can read the file. It is not encrypted, and it holds the stored
conversations and the hashes of API keys: keep it like the store itself.

exit status:
  2  the store or the file cannot be used; then there is no file
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this subcommand."""
    parser.add_argument("file", metavar="FILE", type=Path, help="file to write; it must not exist")


def run(settings: "ServerSettings", given: argparse.Namespace) -> int:
    """Make the backup; the exit status.

    Raises:
        TaskShieldError: The store or the file cannot be used.
    """
    from taskshield.server.sessions.configured_store import configured_url
    from taskshield.stores.maintenance.backup import back_up

    with row_progress("saving") as progress:
        copied = back_up(configured_url(settings), given.file, progress)
    rows = sum(copied.rows.values())
    remark(f"Wrote {rows} rows of {len(copied.rows)} tables to {given.file}.")
    remark("It holds conversations and hashes of API keys, not encrypted.")
    return 0
