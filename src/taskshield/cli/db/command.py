"""The command `taskshield db` and its subcommands, one module for each."""

import argparse
import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from taskshield.cli.db import backup, check, repair, restore, upgrade
from taskshield.cli.serve import add_store, server_arguments
from taskshield.settings import load

if TYPE_CHECKING:
    from taskshield.settings import ServerSettings

_DESCRIPTION = """\
Look after the store of a server. The store is the one that the settings name,
or --store.
"""

Work = Callable[["ServerSettings", argparse.Namespace], Awaitable[int] | int]
"""A subcommand: what it does with the settings of the server, and its exit status."""


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add this command to the command line."""
    parser = commands.add_parser(
        "db",
        help="look after the server's store",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verbs = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add(verbs, "upgrade", upgrade.HELP, upgrade.DESCRIPTION, upgrade.run)
    backup.add_options(_add(verbs, "backup", backup.HELP, backup.DESCRIPTION, backup.run))
    restore.add_options(_add(verbs, "restore", restore.HELP, restore.DESCRIPTION, restore.run))
    check.add_options(_add(verbs, "check", check.HELP, check.DESCRIPTION, check.run))
    repair.add_options(_add(verbs, "repair", repair.HELP, repair.DESCRIPTION, repair.run))


def _add(
    verbs: "argparse._SubParsersAction[argparse.ArgumentParser]",
    name: str,
    help: str,
    description: str,
    work: Work,
) -> argparse.ArgumentParser:
    """Add a subcommand; options of its own may be added to what is returned."""
    parser = verbs.add_parser(
        name,
        help=help,
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--config", metavar="FILE", help="settings file, YAML or TOML")
    add_store(parser)
    parser.set_defaults(run=lambda given: _run(given, work), extra="server")
    return parser


def _run(given: argparse.Namespace, work: Work) -> int:
    settings = load({"server": server_arguments(store=given.store)}, config=given.config)

    done = work(settings.server, given)
    if isinstance(done, int):
        return done

    async def finished(done: Awaitable[int]) -> int:
        return await done

    return asyncio.run(finished(done))
