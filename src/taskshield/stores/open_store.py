"""Opens the store that a URL names. Errors never show the URL: it can hold a password."""

from pathlib import Path

from taskshield.core.errors import ConfigError, MissingExtraError
from taskshield.core.store import Store
from taskshield.stores.memory import MemoryStore

_FORMS = "memory:, sqlite:///relative/path, sqlite:////absolute/path or postgresql://user@host/name"


async def open_store(url: str) -> Store:
    """The store at this URL, its tables brought up to date.

    Raises:
        ConfigError: The URL is not one of a store, or a package for it is not installed.
        StoreError: The database cannot be used: gone, locked, read-only, full, or written by a
            newer release.
    """
    if url == "memory:":
        return MemoryStore()
    path = sqlite_path(url)
    return await (_open_postgres(postgres_url(url)) if path is None else _open_sqlite(path))


def sqlite_path(url: str) -> Path | None:
    """The file that a URL names; None where it does not name one.

    Raises:
        ConfigError: It is a URL of SQLite, but names no file.
    """
    scheme, _, rest = url.partition(":")
    if scheme.lower() != "sqlite":
        return None
    path = rest.removeprefix("///")
    if path == rest or path in ("", ":memory:") or "?" in path or "\0" in path:
        raise ConfigError(f"The URL of the store names no SQLite file. Use one of {_FORMS}.")
    return Path(path)


def postgres_url(url: str) -> str:
    """The URL of a Postgres database as its driver takes it.

    Raises:
        ConfigError: It is another URL.
    """
    scheme, _, rest = url.partition(":")
    if scheme.lower() in ("postgresql", "postgres") and rest.startswith("//"):
        return f"postgresql:{rest}"
    raise ConfigError(f"The URL of the store is not valid. Use one of {_FORMS}.")


async def _open_sqlite(path: Path) -> Store:
    # The libraries are heavy and optional, and a store in memory needs none of them.
    try:
        from taskshield.stores.sql.sqlite import open_sqlite
    except ModuleNotFoundError as error:
        raise MissingExtraError(str(error.name), "server") from error
    return await open_sqlite(path)


async def _open_postgres(url: str) -> Store:
    try:
        from taskshield.stores.sql.postgres import open_postgres
    except ModuleNotFoundError as error:
        extra = "postgres" if error.name == "asyncpg" else "server"
        raise MissingExtraError(str(error.name), extra) from error
    return await open_postgres(url)
