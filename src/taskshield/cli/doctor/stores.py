"""Checks the store that the settings name, without changing it."""

import os
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from taskshield.cli.doctor.findings import Finding, failed, note, ok
from taskshield.core.errors import ConfigError
from taskshield.settings import ServerSettings
from taskshield.stores.open_store import postgres_url, sqlite_path

CHECK = "store"
REPAIR = "Stop the server. Run: taskshield db check, then taskshield db repair, or restore a backup"
_FORMS = "memory:, sqlite:////absolute/path or postgresql://user@host/name"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreFacts:
    """The findings about a store, and what other checks need to know of it."""

    findings: tuple[Finding, ...]
    newest: datetime | None = None
    """When its newest record was made."""
    now: datetime | None = None
    """The clock of its server."""
    keys: int | None = None
    """The number of API keys; None where it is not known."""


def check_store(server: ServerSettings) -> StoreFacts:
    """Look at the store."""
    from taskshield.cli.doctor.postgres_database import examine_postgres
    from taskshield.cli.doctor.sqlite_file import examine_sqlite
    from taskshield.server.sessions.configured_store import default_file

    if server.store is None:
        return examine_sqlite(default_file(), folder_is_made=True)
    url = server.store.get_secret_value()
    if url == "memory:":
        what = "The store is in memory: sessions, decisions and keys are lost at a restart."
        return StoreFacts(findings=(note(CHECK, what),), keys=0)
    try:
        path = sqlite_path(url)
        if path is not None:
            return examine_sqlite(path, folder_is_made=False)
        return examine_postgres(postgres_url(url))
    except ConfigError:
        what = "server.store is not the URL of a store."
        return StoreFacts(findings=(failed(CHECK, what, f"Use one of {_FORMS}."),))


def check_level(level: str | None, tables: Mapping[str, Set[str]]) -> Iterator[Finding]:
    """The findings about the version of a database's tables, and what they lack.

    Args:
        level: The version that is noted in the database; None where there is none.
        tables: The tables of the database, each with its columns.
    """
    from taskshield.stores.maintenance.check import table_problems
    from taskshield.stores.sql.tables import VERSION

    ours = any(name.startswith("taskshield_") for name in tables)
    if level is None and ours:
        yield failed(CHECK, "It has tables of taskshield, but their version is lost.", REPAIR)
    elif level is None and tables:
        yield note(
            CHECK,
            "The database has tables, but none of taskshield; it makes its own beside them.",
            "If this is not the database that you mean, correct server.store.",
        )
    elif level is None:
        yield ok(CHECK, "The database is empty; the server makes its tables when it starts.")
    elif level > VERSION:
        yield failed(
            CHECK,
            f"A newer release of taskshield wrote the store (its tables are version {level}, this"
            f" release knows {VERSION}).",
            "pip install --upgrade taskshield",
        )
    elif problems := table_problems(level, tables):
        yield from (failed(CHECK, problem, REPAIR) for problem in problems)
    elif level < VERSION:
        yield note(
            CHECK,
            f"An older release wrote the store (its tables are version {level} of {VERSION}).",
            "When no server of that release runs any more: taskshield db upgrade",
        )


def writable(folder: Path) -> bool:
    """Whether a folder is there, and files can be made in it."""
    return folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)


def advice_for(code: str, known: Mapping[str, tuple[str, str]]) -> tuple[str, str]:
    """What the code of a database's error means, and what to do; the first that begins so."""
    for start, found in known.items():
        if code.startswith(start):
            return found
    return f"it failed ({code})", "Look at the log of the server and of the database."
