"""`taskshield db upgrade`: brings a store of the release before up to date."""

import argparse
from typing import TYPE_CHECKING

from taskshield.cli.terminal import remark

if TYPE_CHECKING:
    from taskshield.settings import ServerSettings

HELP = "bring a store of an earlier release up to date"
DESCRIPTION = """\
Bring a store of an earlier release up to date. Replace all servers first:
those of the earlier release cannot use the store afterwards. Make a backup
first: there is no way back.

Servers may run meanwhile. It may be stopped at any time: run it again, and it
goes on.
"""


async def run(settings: "ServerSettings", given: argparse.Namespace) -> int:
    """Upgrade the store; the exit status.

    Raises:
        ConfigError: A store in memory cannot be upgraded.
        StoreError: The store cannot be used.
    """
    from taskshield.core.errors import ConfigError
    from taskshield.server.sessions.configured_store import open_configured
    from taskshield.stores.sql.store import SqlStore
    from taskshield.stores.sql.upgrade import SqlUpgrade

    store = await open_configured(settings)
    try:
        if not isinstance(store, SqlStore):
            raise ConfigError("The store is in memory, where there is nothing to upgrade.")
        await SqlUpgrade(store.database, old='{"rest": ').tables()
    finally:
        await store.aclose()
    remark("The store is up to date.")
    return 0
