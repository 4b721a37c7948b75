"""`taskshield db repair`: repairs a store, or saves what can be read of a damaged file."""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from taskshield.cli.db.row_progress import row_progress
from taskshield.cli.terminal import remark

if TYPE_CHECKING:
    from taskshield.settings import ServerSettings

HELP = "repair the store, or save what can be read of it"
DESCRIPTION = """\
Repair the store. Stop all servers first, and make a copy: `taskshield db
backup`, or of the file where that fails.

Without --into, indexes are built again, and rows that servers cannot read are
moved into the quarantine file. API keys are never removed.

With --into, what can be read of a damaged SQLite file is copied into a new
file. The damaged file stays as it is. Then point server.store at the new file.

The quarantine file has one line of JSON for each row. Only its owner can read
it. It is not made where no row is moved.

exit status:
  0  the store can be used, and no row was lost
  1  it can be used, but rows were lost or are still wrong; each is one line
  2  it could not be repaired, and nothing was changed
"""
_LOST = 1


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this subcommand."""
    parser.add_argument(
        "--quarantine",
        metavar="FILE",
        type=Path,
        default=Path("taskshield-quarantine.jsonl.gz"),
        help="file for rows that cannot be used (default: taskshield-quarantine.jsonl.gz)",
    )
    parser.add_argument(
        "--into", metavar="FILE", type=Path, help="new SQLite file for what can be read"
    )


def run(settings: "ServerSettings", given: argparse.Namespace) -> int:
    """Repair the store; the exit status.

    Raises:
        TaskShieldError: It cannot be repaired.
    """
    from taskshield.cli.db.documents import read_documents
    from taskshield.server.sessions.configured_store import configured_url
    from taskshield.stores.maintenance.repair import repair
    from taskshield.stores.maintenance.salvage import salvage

    url = configured_url(settings)
    with row_progress("repairing") as progress:
        if given.into is None:
            repaired = repair(url, given.quarantine, read_documents, progress)
            moved, left = repaired.moved, repaired.left
        else:
            saved = salvage(url, given.into, given.quarantine, read_documents, progress)
            moved = saved.moved
            left = tuple(
                f"{name}: rows were lost in {gaps} places." for name, gaps in saved.gaps.items()
            )
            remark(f"Saved {sum(saved.rows.values())} rows in {given.into}.")
            if not saved.rows["taskshield_keys"]:
                remark("It holds no API key: create one before you start the server.")
    _report(moved, left, given.quarantine)
    return _LOST if left or moved else 0


def _report(moved: Mapping[str, int], left: tuple[str, ...], quarantine: Path) -> None:
    for name, rows in moved.items():
        remark(f"{name}: moved {rows} rows to {quarantine}.")
    for each in left:
        remark(each)
    if not moved and not left:
        remark("Nothing had to be moved.")
