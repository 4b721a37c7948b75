"""`taskshield keys`: make, list and revoke the API keys of the server."""

import argparse
import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import get_args

from rich.table import Table

from taskshield.cli import terminal
from taskshield.cli.serve import add_store, server_arguments
from taskshield.core.errors import ConfigError
from taskshield.core.safe_text import one_line
from taskshield.core.store import ApiKey, Scope, Store
from taskshield.settings import load

_DESCRIPTION = """\
API keys of the server. A key belongs to a tenant and sees only its data. Its
scopes say what it may do: check (judge, read sessions and decisions), proxy
(use the proxy), approve (answer escalated calls), admin (all of these, the
settings and the self-test).
"""
_CREATE = """\
Make a key and print it. It cannot be shown again: the store keeps only its
hash.
"""
_NAME_LENGTH = 60


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add this command to the command line."""
    formatter = argparse.RawDescriptionHelpFormatter
    parser = commands.add_parser(
        "keys",
        help="make, list and revoke API keys",
        description=_DESCRIPTION,
        formatter_class=formatter,
    )
    verbs = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    create = verbs.add_parser(
        "create", help="make a key", description=_CREATE, formatter_class=formatter
    )
    create.add_argument("--name", required=True, help="a name that says what the key is for")
    create.add_argument("--tenant", default="default", help="whose data it sees (default: default)")
    create.add_argument(
        "--scope",
        action="append",
        choices=get_args(Scope),
        help="what it may do; repeatable (default: check and proxy)",
    )
    create.add_argument(
        "--per-minute", type=_count, metavar="N", help="limit of requests in a minute"
    )
    create.add_argument("--days", type=_count, metavar="N", help="days until it expires")
    _add_common_options(create, _create)
    listing = verbs.add_parser("list", help="list all keys; secrets are not shown")
    terminal.add_color(listing)
    _add_common_options(listing, _list)
    revoke = verbs.add_parser("revoke", help="revoke a key permanently")
    revoke.add_argument("id", metavar="ID", help="id from `taskshield keys list`")
    _add_common_options(revoke, _revoke)


_Work = Callable[[Store, argparse.Namespace], Awaitable[int]]


def _add_common_options(parser: argparse.ArgumentParser, work: _Work) -> None:
    parser.add_argument("--config", metavar="FILE", help="settings file, YAML or TOML")
    add_store(parser)
    parser.set_defaults(run=lambda given: run(given, work), extra="server")


def run(given: argparse.Namespace, work: _Work) -> int:
    """Run one of the subcommands on the store that the settings name.

    Raises:
        TaskShieldError: A setting is wrong, or the store cannot be used.
    """
    settings = load({"server": server_arguments(store=given.store)}, config=given.config)
    from taskshield.server.sessions.configured_store import open_configured

    async def with_store() -> int:
        store = await open_configured(settings.server)
        try:
            return await work(store, given)
        finally:
            await store.aclose()

    return asyncio.run(with_store())


async def _create(store: Store, given: argparse.Namespace) -> int:
    from taskshield.server.access.api_keys import new_key

    scopes: list[Scope] = ["check", "proxy"] if given.scope is None else given.scope
    made = new_key(
        tenant=given.tenant,
        name=given.name,
        scopes=scopes,
        per_minute=given.per_minute,
        lifetime=None if given.days is None else timedelta(days=given.days),
    )
    await store.add_key(made.stored)
    print(made.secret)
    terminal.remark(f"Made the key {made.stored.id}. It is not shown again.")
    return 0


async def _list(store: Store, given: argparse.Namespace) -> int:
    table = Table("id", "tenant", "name", "scopes", "per minute", "made", "state", box=None)
    for key in await store.keys():
        table.add_row(
            key.id,
            one_line(key.tenant, _NAME_LENGTH),
            one_line(key.name, _NAME_LENGTH),
            ", ".join(sorted(key.scopes)),
            "" if key.per_minute is None else str(key.per_minute),
            f"{key.created_at:%Y-%m-%d}",
            _state(key),
        )
    terminal.show(terminal.output(color=given.color), table)
    return 0


async def _revoke(store: Store, given: argparse.Namespace) -> int:
    if not await store.revoke_key(given.id):
        raise ConfigError(f"There is no key {given.id!r}, or it is revoked already.")
    terminal.remark(f"Revoked the key {given.id}.")
    return 0


def _state(key: ApiKey) -> str:
    if key.revoked_at is not None:
        return "revoked"
    if key.expires_at is None:
        return "good"
    expired = key.expires_at <= datetime.now(UTC)
    return "expired" if expired else f"good until {key.expires_at:%Y-%m-%d}"


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number
