"""What belongs to the guard itself, from its settings and machine, for `engine.own_resources`."""

import os
import socket
import sys
from pathlib import Path

from taskshield.core.errors import ConfigError
from taskshield.engine.own_resources.values import OwnResources
from taskshield.settings import CONFIG_VARIABLE, Settings
from taskshield.stores.open_store import sqlite_path


def own_resources(
    settings: Settings, *, config: str | os.PathLike[str] | None = None, serves: bool = False
) -> OwnResources:
    """What belongs to this guard.

    Args:
        settings: All settings.
        config: The settings file, where it was given.
        serves: Whether this process is the server. The port counts for other processes, too, where
            settings name it.
    """
    server = settings.server
    home = _home()
    folder = _state_folder_or_none()
    file = config if config is not None else os.environ.get(CONFIG_VARIABLE)
    store = None if server.store is None else _store_file(server.store.get_secret_value())
    package = Path(__file__).parent
    installed = "site-packages" in package.parts or "dist-packages" in package.parts
    return OwnResources(
        port=server.port if serves or "port" in server.model_fields_set else None,
        hosts=frozenset({server.host.casefold(), socket.gethostname().casefold()}),
        files=tuple(_absolute(path) for path in (store, file) if path is not None),
        store=None if store is None else _absolute(store),
        folders=() if folder is None else (_absolute(folder),),
        around=() if folder is None or home is None else _between(home, folder),
        package=_absolute(package) if installed else None,
        home=None if home is None else _absolute(home),
        process=os.getpid() if serves else None,
        command_line=" ".join((sys.executable, *sys.argv)).casefold() if serves else "",
    )


def state_folder() -> Path:
    """The folder for state in the user's home folder, by the XDG convention.

    Raises:
        RuntimeError: This user has no home folder.
    """
    given = os.environ.get("XDG_STATE_HOME", "")
    base = Path(given) if Path(given).is_absolute() else Path.home() / ".local" / "state"
    return base / "taskshield"


def _state_folder_or_none() -> Path | None:
    try:
        return state_folder()
    except RuntimeError:
        return None


def _home() -> Path | None:
    try:
        return Path.home()
    except RuntimeError:  # this user has none
        return None


def _store_file(url: str) -> Path | None:
    try:
        return sqlite_path(url)
    except ConfigError:
        return None  # opening the store says so


def _between(home: Path, folder: Path) -> tuple[str, ...]:
    """The folders between the user's home folder and one in it."""
    return tuple(_absolute(each) for each in folder.parents if home in each.parents)


def _absolute(path: str | os.PathLike[str]) -> str:
    return Path(os.path.abspath(path)).as_posix()
