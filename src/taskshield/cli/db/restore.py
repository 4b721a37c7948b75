"""`taskshield db restore`: reads a backup into an empty store."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from taskshield.cli.db.row_progress import row_progress
from taskshield.cli.terminal import remark

if TYPE_CHECKING:
    from taskshield.settings import ServerSettings

HELP = "read a backup into an empty store"
DESCRIPTION = """\
Read a backup into an empty store: a new SQLite file, a database without tables,
or one whose tables have no rows. The backup is checked to its end first. All of
it is written or nothing. Start the servers afterwards.

The tables are those of the backup. Where an earlier release made it, run
`taskshield db upgrade` after all servers are new.

Restore only backups that you trust: the keys in it open the server.

exit status:
  2  the backup is damaged, the store is not empty, or one cannot be used; then
     nothing is changed
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this subcommand."""
    parser.add_argument("file", metavar="FILE", type=Path, help="file of `taskshield db backup`")


def run(settings: "ServerSettings", given: argparse.Namespace) -> int:
    """Restore the backup; the exit status.

    Raises:
        TaskShieldError: The backup or the store cannot be used.
    """
    from taskshield.server.sessions.configured_store import configured_url
    from taskshield.stores.maintenance.backup import restore

    with row_progress("restoring") as progress:
        copied = restore(configured_url(settings), given.file, progress)
    rows = sum(copied.rows.values())
    remark(f"Restored {rows} rows of {len(copied.rows)} tables.")
    return 0
