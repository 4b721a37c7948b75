"""`taskshield db upgrade`: brings a store of the release before up to date."""

import argparse
import asyncio
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from taskshield.cli.terminal import complain, progress, remark

if TYPE_CHECKING:
    from taskshield.settings import ServerSettings

HELP = "bring a store of an earlier release up to date"
DESCRIPTION = """\
Bring a store of an earlier release up to date: its tables, then its sessions,
one row for each message. Replace all servers first: those of the earlier
release cannot use the store afterwards. Make a backup first: there is no way
back.

Servers may run meanwhile. It may be stopped at any time: run it again, and it
goes on.

exit status:
  0  the store is up to date
  1  some sessions cannot be read; they stay as they are
  2  the settings are wrong, or the store cannot be used
"""
_UNREADABLE = 1
_STEP = 0.05
"""Without a terminal there is a line whenever this share of the sessions is done."""


async def run(settings: "ServerSettings", given: argparse.Namespace) -> int:
    """Upgrade the store; the exit status.

    Raises:
        ConfigError: A store in memory cannot be upgraded.
        StoreError: The store cannot be used.
    """
    from taskshield.server.sessions.configured_store import configured_url, open_configured
    from taskshield.server.sessions.head_and_parts import OLD_BEGINNING
    from taskshield.server.sessions.store_upgrade import upgrade_sessions
    from taskshield.stores.maintenance.backup import level_of
    from taskshield.stores.maintenance.connections import read_store
    from taskshield.stores.sql.store import SqlStore
    from taskshield.stores.sql.upgrade import SqlUpgrade

    # To open a store makes its file and tables. One that is not there is a mistake in its URL.
    await asyncio.to_thread(read_store, configured_url(settings), level_of)
    store = await open_configured(settings)
    try:
        assert isinstance(store, SqlStore)
        upgrade = SqlUpgrade(store.database, old=OLD_BEGINNING)
        await upgrade.tables()
        with _shown(await upgrade.count()) as done:
            result = await upgrade_sessions(upgrade, done)
    finally:
        await store.aclose()
    if result.unreadable:
        complain(
            f"Upgraded {result.upgraded} sessions. {result.unreadable} cannot be read and stay as"
            " they are."
        )
        return _UNREADABLE
    remark(f"Upgraded {result.upgraded} sessions. The store is up to date.")
    return 0


@contextmanager
def _shown(total: int) -> Iterator[Callable[[int], None]]:
    """Shows how many sessions are done: a bar on a terminal, otherwise lines."""
    is_terminal = sys.stderr is not None and sys.stderr.isatty()
    finished = shown = 0
    with progress(total, label="upgrading") as advance:

        def done(count: int) -> None:
            nonlocal finished, shown
            finished += count
            for _ in range(count):
                advance(None)
            if not is_terminal and finished - shown >= total * _STEP and finished:
                shown = finished
                remark(f"{finished} of {total} sessions")

        yield done
